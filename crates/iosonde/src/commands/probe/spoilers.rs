//! What would spoil a test here: each with what is the case, and what to do.

use super::survey::{PathSurvey, QueueSettings};
use crate::commands::format::{bytes, plural, printable};
use iosonde_direct::stack::LayerKind;
use iosonde_direct::{DeviceFacts, Fact, Tristate, WriteCache, ZoneModel};

/// One thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoiler {
    /// Its name in documents.
    pub id: &'static str,
    /// What is the case, and what that does to figures.
    pub sentence: String,
    /// What to do: an imperative.
    pub remedy: &'static str,
}

/// All of them, what weighs most first.
pub fn all(survey: &PathSurvey) -> Vec<Spoiler> {
    let mut list = List(Vec::new());
    storage(survey, &mut list);
    room(survey, &mut list);
    file(survey, &mut list);
    mount_options(survey, &mut list);
    for (device, queue) in survey.facts.devices.iter().zip(&survey.queues) {
        layer(device, &mut list);
        one_device(survey, device, queue, &mut list);
    }
    others(survey, &mut list);
    machine(survey, &mut list);
    list.0
}

struct List(Vec<Spoiler>);

impl List {
    fn add(&mut self, id: &'static str, sentence: String, remedy: &'static str) {
        self.0.push(Spoiler { id, sentence, remedy });
    }
}

/// Whether files here are in memory and nowhere else.
pub fn is_memory(survey: &PathSurvey) -> bool {
    let kind = survey.facts.mount().map(|mount| mount.filesystem.as_str());
    matches!(kind, Some("tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs"))
}

fn storage(survey: &PathSurvey, list: &mut List) {
    let mount = survey.facts.mount();
    if let (true, Some(mount)) = (is_memory(survey), mount) {
        list.add(
            "memory",
            format!("{} keeps its files in memory: no figure is of a device.", mount.filesystem),
            "test a directory on a disk",
        );
        return;
    }
    for (id, what) in [("direct_read", "read"), ("direct_write", "written")] {
        let trial = survey.trials.of(id).filter(|trial| trial.verdict == Tristate::No);
        if let Some(trial) = trial {
            list.add(
                "not_direct",
                format!("With direct=1, data are {what} through memory: {}.", trial.detail),
                "use another file system, or read the figures as those of buffered I/O with fsync",
            );
        }
    }
    let Some(mount) = mount else { return };
    let kind = mount.filesystem.as_str();
    if ["nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs", "lustre"].contains(&kind) {
        list.add(
            "remote",
            format!("{kind} is served by another machine: its memory answers, and the network's time is in each figure."),
            "test on the server too, with files larger than its memory",
        );
    } else if kind.starts_with("fuse") {
        list.add(
            "fuse",
            format!("{kind} is served by a program, which may keep data in memory and takes processor time."),
            "test the file system below it too",
        );
    } else if kind == "overlay" {
        list.add(
            "overlay",
            "overlayfs copies a file of a lower layer up at its first write, and hides what is cached."
                .to_owned(),
            "test in a volume or a bind mount of the disk's own file system",
        );
    }
}

fn room(survey: &PathSurvey, list: &mut List) {
    let Some(Fact::Known(space)) = &survey.space else { return };
    if is_memory(survey) {
        return;
    }
    if space.bytes > 0 && space.fill_percent() >= 90 {
        list.add(
            "nearly_full",
            format!(
                "The file system is {} % full ({} free): it must search for room, and a flash disk has less to work with.",
                space.fill_percent(),
                bytes(space.free_bytes)
            ),
            "free some space, to a quarter or more",
        );
    }
    let memory = survey.machine.memory_bytes;
    if space.available_bytes < memory.saturating_mul(2) {
        list.add(
            "smaller_than_memory",
            format!(
                "There is room for {}, less than twice the memory ({}): whatever fits here may be cached.",
                bytes(space.available_bytes),
                bytes(memory)
            ),
            "use direct=1, or invalidate=1 with reads that do not come back to the same place",
        );
    }
}

fn file(survey: &PathSurvey, list: &mut List) {
    let Some(file) = &survey.file else { return };
    if let Some(extents) = file.extents.known() {
        if extents.empty_share() > 0.0 {
            list.add(
                "holes",
                format!(
                    "{:.0} % of the file is holes or was never written: reads of that come from no device.",
                    (extents.empty_share() * 100.0).max(1.0)
                ),
                "write the file once before reading it",
            );
        }
        if extents.encoded_bytes > 0 {
            list.add(
                "compressed",
                format!("{} of the file are compressed or encoded: fewer bytes move than are asked for.", bytes(extents.encoded_bytes)),
                "test a file that is not compressed",
            );
        }
    }
    let cached = file.cached.known().map_or(0, |cached| cached.cached_bytes());
    if cached > 0 {
        list.add(
            "cached",
            format!(
                "{} of the file are in memory: buffered reads of that come from there.",
                bytes(cached)
            ),
            "drop them with iosonde cache --drop, or leave invalidate at 1",
        );
    }
    if file.attributes.known().is_some_and(|attributes| attributes.journalled) {
        list.add(
            "journalled",
            "The file's data are journalled: everything is written twice, and not directly.".into(),
            "take the flag off (chattr -j)",
        );
    }
}

fn mount_options(survey: &PathSurvey, list: &mut List) {
    let Some(mount) = survey.facts.mount() else { return };
    let has = |name: &str| mount.has_option(name);
    if has("ro") {
        list.add("read_only", "It is mounted read only.".into(), "test reads, or remount it rw");
    }
    if has("nobarrier") || mount.option("barrier") == Some("0") {
        list.add(
            "no_barrier",
            "It is mounted without barriers: fsync does not flush the device's cache, and looks cheap.".into(),
            "remount it with barrier=1",
        );
    }
    if has("sync") || has("dirsync") {
        list.add(
            "sync_mount",
            "It is mounted sync: every write waits for the device, asked or not.".into(),
            "remount it async",
        );
    }
    if mount.option("data") == Some("journal") {
        list.add(
            "journalled",
            "It is mounted data=journal: everything is written twice, and not directly.".into(),
            "remount it with data=ordered",
        );
    }
    if has("compress") || has("compress-force") || mount.filesystem == "zfs" {
        list.add(
            "compressing",
            format!(
                "{} compresses or may compress here: what compresses well is not measured.",
                mount.filesystem
            ),
            "use buffers that do not compress (refill_buffers=1), or turn compression off",
        );
    }
}

fn layer(device: &DeviceFacts, list: &mut List) {
    let name = &device.name;
    if let (LayerKind::Loop(file), Some(false)) = (&device.kind, device.loop_direct.get()) {
        list.add(
            "loop",
            format!(
                "{name} shows the file {} through its page cache: direct I/O ends in memory.",
                printable(file)
            ),
            "attach it with losetup --direct-io=on",
        );
    }
    if device.alignment_offset.get().is_some_and(|offset| offset > 0) {
        list.add(
            "misaligned",
            format!(
                "{name} does not begin at a border of the disk's sectors: each block touches two."
            ),
            "make the partition anew at a multiple of 1 MiB",
        );
    }
    if device.swap {
        list.add(
            "swap",
            format!("{name} is swap: the machine may write to it at any time."),
            "use swapoff for the test",
        );
    }
}

fn one_device(survey: &PathSurvey, device: &DeviceFacts, queue: &QueueSettings, list: &mut List) {
    let name = &device.name;
    let is_disk = survey.facts.disks().iter().any(|disk| disk.id == device.id);
    if let Some(action) = &queue.rebuilding {
        list.add(
            "rebuilding",
            format!("{name} is at work for itself ({}).", action.trim()),
            "wait until /proc/mdstat shows no action",
        );
    }
    if !is_disk {
        return;
    }
    let spins = device.rotational.get() == Some(true);
    let virtual_disk = device.transport.known().is_some_and(|by| by == "virtio" || by == "xen");
    if spins && virtual_disk {
        list.add(
            "rotational_guess",
            format!("{name} is said to rotate, as the driver of virtual disks says by default: the system reads ahead and orders as for one that does."),
            "ask whose disk it is; echo 0 to its queue/rotational if it does not",
        );
    }
    let scheduler = device.scheduler.known().map(String::as_str);
    if let (Some(scheduler), true) = (scheduler, !spins || virtual_disk)
        && scheduler != "none"
        && queue.schedulers.iter().any(|one| one == "none")
    {
        list.add(
                "scheduler",
                format!("{name} has the scheduler {scheduler}, which costs time on each I/O and may reorder."),
                "compare with none (ioscheduler=none, as root)",
            );
    }
    if queue.read_ahead_bytes.get().is_some_and(|ahead| ahead > 1 << 20) {
        list.add(
            "read_ahead",
            format!("{name} reads up to {} ahead: buffered sequential reads measure that, random ones may fetch too much.", bytes(queue.read_ahead_bytes.get().unwrap_or(0))),
            "use direct=1, or a smaller queue/read_ahead_kb",
        );
    }
    if queue.counted.get() == Some(false) {
        list.add(
            "not_counted",
            format!("{name} counts no I/O (queue/iostats is 0): nobody can tell what reached it."),
            "echo 1 to its queue/iostats",
        );
    }
    if device.write_cache.get() == Some(WriteCache::Back) {
        list.add(
            "write_cache",
            format!("{name} has a write cache: what it says is written may be in its memory, until a flush."),
            "use fsync, fdatasync or end_fsync=1 if it is durable writes that count",
        );
    }
    if let Some(ZoneModel::Managed(_)) = device.zones.get() {
        list.add(
            "zoned",
            format!("{name} must be written in order, zone by zone."),
            "use zonemode=zbd, or a file system for it",
        );
    }
    if let (Some(logical), Some(physical)) =
        (device.logical_sector.get(), device.physical_sector.get())
        && physical > logical
    {
        list.add(
                "sectors",
                format!("{name} takes writes of {logical} bytes but stores {physical}: smaller ones are read, changed, written."),
                "use blocks of at least the physical sector",
            );
    }
    if device.removable.get() == Some(true)
        || device.transport.known().is_some_and(|by| by == "usb")
    {
        list.add(
            "removable",
            format!("{name} can be taken out; the bus may be what is measured."),
            "compare with another port",
        );
    }
}

fn others(survey: &PathSurvey, list: &mut List) {
    let looked = survey.others.observed.as_millis();
    for (name, requests) in &survey.others.requests {
        // A journal's tick is no traffic.
        if let Some(requests) = requests.get().filter(|&requests| requests >= 5) {
            list.add(
                "other_traffic",
                format!(
                    "{name} did {requests} requests for others in {looked} ms: its time is shared."
                ),
                "find who it is (iotop, or /proc/PID/io), and test when it rests",
            );
        }
    }
    if let Some((used, stolen)) = survey.others.cpu_percent.get() {
        if used > 25.0 {
            list.add(
                "busy_processors",
                format!(
                    "Processors are {used:.0} % busy with others: fast devices are limited by them."
                ),
                "test when the machine rests",
            );
        }
        if stolen >= 2.0 {
            list.add(
                "stolen",
                format!("The hypervisor takes {stolen:.0} % of processor time."),
                "repeat at other times, or take a machine with processors of its own",
            );
        }
    }
}

fn machine(survey: &PathSurvey, list: &mut List) {
    let machine = &survey.machine;
    if let Some(kind) = &machine.virtual_machine {
        list.add(
            "virtual_machine",
            format!("This is a virtual machine ({kind}): caches, limits and neighbours below it cannot be seen from here."),
            "know the disk's cache mode and limits at the host; repeat at other times",
        );
    }
    if let Some(governor) = machine.governor.as_ref().filter(|governor| *governor != "performance")
    {
        list.add(
            "governor",
            format!("The processors' frequency is chosen by {governor}: latencies hold the time to wake up."),
            "use cpupower frequency-set -g performance",
        );
    }
    if machine.cpus <= 2 {
        list.add(
            "few_processors",
            format!("This process has {} processor{}: jobs, the tool and the kernel's threads share them.", machine.cpus, plural(machine.cpus)),
            "use few jobs and no sqthread_poll; look at the cpu line of the report",
        );
    }
    let limits = &survey.limits;
    if let Some(cpus) = limits.cpus {
        list.add(
            "cpu_limit",
            format!(
                "The control group allows {cpus:.2} processors: I/O stops when they are used up."
            ),
            "raise cpu.max",
        );
    }
    if let Some(memory) = limits.memory_bytes {
        list.add(
            "memory_limit",
            format!("The control group allows {} of memory, page cache included: buffered I/O is throttled by that.", bytes(memory)),
            "raise memory.max, or use direct=1",
        );
    }
    if !limits.io.is_empty() {
        list.add(
            "storage_limit",
            format!(
                "The control group limits I/O ({}): that is what is measured.",
                limits.io.join("; ")
            ),
            "raise io.max, or test outside the container",
        );
    }
    let ring = survey.trials.of("io_uring").filter(|trial| trial.verdict == Tristate::No);
    if let Some(ring) = ring {
        list.add(
            "no_io_uring",
            format!("io_uring cannot be had: {}.", ring.detail),
            "use ioengine=libaio with direct=1, or several jobs",
        );
    }
}
