//! Devices, others' traffic, the machine meanwhile, the environment.

use super::{flushes, of_disks_below, wave};
use crate::evidence::{Evidence, JobEvidence};
use crate::reading::{Location, MachineReading, both};
use iosonde_base::Dir;
use iosonde_report::ledger::{
    DeviceLedger, DeviceUse, Environment, Fact, MachineLedger, OtherTraffic, PressureShares,
    Throttling, share,
};
use iosonde_sys::counters::{
    CpuTime, DiskCounters, GroupLimits, PageFlow, Pressure, TaskIo, Throttled,
};
use iosonde_sys::stack::{Layer, LayerKind};
use std::collections::BTreeSet;

const SECTOR: u64 = 512;
const MS: u64 = 1_000_000;
const PAGE: u64 = 4096;

/// What was counted over all waves, where each has counts.
pub(super) fn over_waves<T: Clone>(
    seen: &Evidence,
    one: impl Fn(&MachineReading, &MachineReading) -> Fact<T>,
    plus: impl Fn(&T, &T) -> T,
) -> Fact<T> {
    let mut all: Option<T> = None;
    for wave in &seen.waves {
        match (one(&wave.after, &wave.before), &all) {
            (Fact::Unknown(why), _) => return Fact::Unknown(why),
            (Fact::Known(one), None) => all = Some(one),
            (Fact::Known(one), Some(sum)) => all = Some(plus(sum, &one)),
        }
    }
    all.map_or(Fact::unknown("no job ran"), Fact::Known)
}

fn wall_ns(seen: &Evidence) -> u64 {
    seen.waves.iter().map(|wave| wave.after.ns_since(&wave.before)).sum()
}

fn counted(seen: &Evidence, name: &str) -> Fact<DiskCounters> {
    over_waves(seen, |after, before| after.device_since(before, name), DiskCounters::plus)
}

/// Every device below the files.
pub(super) fn devices(seen: &Evidence) -> Vec<DeviceLedger> {
    let places = crate::reading::Locations(seen.places.clone());
    let wall = wall_ns(seen);
    let backing = |layer: &Layer| {
        let mut loops = seen.places.iter().flat_map(|place| &place.loops);
        loops.find(|backing| backing.device == layer.name)
    };
    let one = |(layer, level): (&Layer, u32)| DeviceLedger {
        name: layer.name.clone(),
        kind: match &layer.kind {
            LayerKind::Disk => "disk",
            LayerKind::Partition => "partition",
            LayerKind::Mapped(_) => "mapped",
            LayerKind::Raid => "raid",
            LayerKind::Loop(_) => "loop",
        }
        .to_owned(),
        level,
        made_of: flushes::made_of(layer),
        backing_filesystem: backing(layer).map(|backing| backing.filesystem.clone()),
        flushes_due: None,
        in_memory: crate::reading::is_of_memory(layer)
            || backing(layer).is_some_and(|backing| backing.in_memory),
        dirty_below_bytes: dirty_below(seen, &layer.name),
        entered_below_bytes: entered_below(seen, &layer.name),
        holes_below_share: holes_below_share(seen, &layer.name),
        used: counted(seen, &layer.name).map(|used| device_use(&used, wall)),
        facts: seen.facts_of(&layer.name).cloned().unwrap_or_default(),
    };
    let mut devices: Vec<DeviceLedger> = places.devices().into_iter().map(one).collect();
    flushes::set_due(&mut devices, seen);
    devices
}

/// Of what jobs only read from a loop device, the share that its backing file has not.
fn holes_below_share(seen: &Evidence, name: &str) -> Option<f64> {
    let of_device = || seen.holes_below.iter().filter(|holes| holes.device == name);
    let (bytes, holes) = (of_device().map(|one| one.bytes), of_device().map(|one| one.hole_bytes));
    share(holes.sum(), bytes.sum())
}

/// What of a loop device's data was dirty in its backing file at the end.
fn dirty_below(seen: &Evidence, name: &str) -> Option<Fact<u64>> {
    Some(seen.waves.last()?.after.below(name)?.as_ref().map(|pages| pages.dirty_bytes))
}

/// What of a loop device's backing file may have entered the page cache, at most: what is
/// there more than before, and all pages that the machine took from memory meanwhile, as
/// they may have been of this file.
fn entered_below(seen: &Evidence, name: &str) -> Option<Fact<u64>> {
    seen.waves.last()?.after.below(name)?;
    let of_wave = |after: &MachineReading, before: &MachineReading| {
        let missing = Fact::default();
        let now = after.below(name).unwrap_or(&missing);
        let grown = both(now, before.below(name).unwrap_or(&missing), |now, then| {
            now.cached_bytes.saturating_sub(then.cached_bytes)
        });
        let flow = both(&after.pages, &before.pages, PageFlow::since);
        let taken = flow.map(|flow| flow.reclaimed_pages.saturating_mul(PAGE));
        both(&grown, &taken, |grown: &u64, taken| grown.saturating_add(*taken))
    };
    Some(over_waves(seen, of_wave, |one, other| one + other))
}

fn device_use(used: &DiskCounters, wall_ns: u64) -> DeviceUse {
    let wall_ms = (wall_ns as f64 / MS as f64).max(1.0);
    DeviceUse {
        read_ios: used.reads,
        write_ios: used.writes,
        read_bytes: used.read_sectors * SECTOR,
        write_bytes: used.write_sectors * SECTOR,
        read_merges: used.read_merges,
        write_merges: used.write_merges,
        read_ns: used.read_ms * MS,
        write_ns: used.write_ms * MS,
        flushes: used.flushes,
        flush_ns: used.flush_ms * MS,
        depth: used.queue_ms as f64 / wall_ms,
        busy_share: (used.busy_ms as f64 / wall_ms).min(1.0),
    }
}

/// Mean requests in flight on the disks below a job while its wave ran.
pub(super) fn depth_below(job: &JobEvidence, seen: &Evidence) -> Fact<f64> {
    let Some(wave) = wave(job, seen) else { return Fact::default() };
    let wall_ms = wave.after.ns_since(&wave.before) as f64 / MS as f64;
    if wall_ms <= 0.0 {
        return Fact::unknown("no time passed");
    }
    of_disks_below(job, wave, seen, |used| used.queue_ms).map(|queued| queued as f64 / wall_ms)
}

/// Traffic on the disks right below that the process did not cause.
pub(super) fn others(seen: &Evidence) -> OtherTraffic {
    let disks: BTreeSet<&str> =
        seen.places.iter().flat_map(Location::disks).map(|disk| disk.name.as_str()).collect();
    if disks.is_empty() {
        return OtherTraffic {
            read_bytes: Fact::unknown("no device is below the files"),
            written_bytes: Fact::unknown("no device is below the files"),
            share: Fact::unknown("no device is below the files"),
        };
    }
    let ours = over_waves(
        seen,
        |after, before| both(&after.process_io, &before.process_io, TaskIo::since),
        |one: &TaskIo, other: &TaskIo| TaskIo {
            storage_read_bytes: one.storage_read_bytes + other.storage_read_bytes,
            storage_write_bytes: one.storage_write_bytes + other.storage_write_bytes,
            ..*one
        },
    );
    let mut moved = [0u64; 2];
    for name in disks {
        match counted(seen, name) {
            Fact::Known(used) => {
                moved[0] += used.read_sectors * SECTOR;
                moved[1] += used.write_sectors * SECTOR;
            }
            Fact::Unknown(why) => {
                return OtherTraffic {
                    read_bytes: Fact::Unknown(why.clone()),
                    written_bytes: Fact::Unknown(why.clone()),
                    share: Fact::Unknown(why),
                };
            }
        }
    }
    let read = ours.as_ref().map(|ours| moved[0].saturating_sub(ours.storage_read_bytes));
    let written = match own_metadata(seen) {
        Fact::Known(own) => {
            ours.map(|ours| moved[1].saturating_sub(ours.storage_write_bytes.saturating_add(own)))
        }
        Fact::Unknown(why) => Fact::Unknown(why),
    };
    let foreign = match (&read, &written) {
        (Fact::Known(read), Fact::Known(written)) => Fact::Known(read + written),
        (Fact::Known(read), Fact::Unknown(_)) => Fact::Known(*read),
        (Fact::Unknown(why), _) => Fact::Unknown(why.clone()),
    };
    OtherTraffic {
        share: foreign.map(|foreign| share(foreign, moved[0] + moved[1]).unwrap_or(0.0)),
        read_bytes: read,
        written_bytes: written,
    }
}

/// The most that the file systems may have written for the run beside its data:
/// journal and metadata, which the kernel counts for nobody. Unknown where it may
/// be as much as the data or more.
fn own_metadata(seen: &Evidence) -> Fact<u64> {
    /// ext4 writes about 20 KiB of journal for a sync (descriptor, inode, bitmap,
    /// commit), xfs less; the inode itself follows later.
    const SYNC_BYTES: u64 = 32 << 10;
    /// A new file: its inode, its entry, its extents.
    const FILE_BYTES: u64 = 16 << 10;
    /// File systems that write metadata anew for each change.
    const COPYING: [&str; 5] = ["btrfs", "bcachefs", "f2fs", "nilfs2", "zfs"];
    if !seen.jobs.iter().any(|job| job.bytes[Dir::Write] > 0 || job.syncs.0 > 0) {
        return Fact::Known(0);
    }
    for place in &seen.places {
        let data_in_journal = place
            .filesystem
            .as_ref()
            .is_some_and(|facts| facts.options.split(',').any(|option| option == "data=journal"));
        if data_in_journal || COPYING.contains(&place.kind()) {
            return Fact::unknown(format!(
                "metadata that {} writes for the run cannot be separated from others' writes",
                place.kind()
            ));
        }
    }
    let of = |job: &JobEvidence| {
        let ios: u64 = job.ios.0.iter().sum();
        // With O_SYNC each write is also a sync.
        let syncs = if job.options.sync { job.syncs.0.max(ios) } else { job.syncs.0 };
        syncs.saturating_mul(SYNC_BYTES).saturating_add(job.files.0.saturating_mul(FILE_BYTES))
    };
    Fact::Known(seen.jobs.iter().map(of).fold(1 << 20, u64::saturating_add))
}

/// Limits of I/O for devices below the files, of those that control groups have:
/// a line begins with the numbers of its device.
fn limits_below(lines: &[String], seen: &Evidence) -> Vec<String> {
    let ids: BTreeSet<String> = seen
        .places
        .iter()
        .flat_map(|place| &place.layers)
        .flat_map(Layer::walk)
        .map(|layer| layer.id.to_string())
        .collect();
    let of_ours =
        |line: &&String| line.split_ascii_whitespace().next().is_some_and(|id| ids.contains(id));
    lines.iter().filter(of_ours).cloned().collect()
}

pub(super) fn meanwhile(seen: &Evidence) -> MachineLedger {
    let wall = wall_ns(seen);
    let of_wall = |us: u64| (us as f64 * 1e3 / wall.max(1) as f64).min(1.0);
    let lost = |at: usize| {
        over_waves(
            seen,
            |after, before| both(&after.pressure[at], &before.pressure[at], Pressure::since),
            |one, other| Pressure {
                some_us: one.some_us + other.some_us,
                full_us: one.full_us + other.full_us,
            },
        )
        .map(|pressure| of_wall(pressure.some_us))
    };
    let cpu = over_waves(
        seen,
        |after, before| both(&after.cpu, &before.cpu, CpuTime::since),
        |one, other| CpuTime {
            total: one.total + other.total,
            idle: one.idle + other.idle,
            stolen: one.stolen + other.stolen,
        },
    );
    let throttled = over_waves(
        seen,
        |after, before| both(&after.throttled, &before.throttled, Throttled::since),
        |one, other| Throttled { periods: one.periods + other.periods, us: one.us + other.us },
    );
    MachineLedger {
        wall_ns: wall,
        steal_share: cpu.map(|time| share(time.stolen, time.total).unwrap_or(0.0)),
        pressure: PressureShares { cpu: lost(0), memory: lost(1), io: lost(2) },
        throttled: throttled
            .map(|found| Throttling { periods: found.periods, ns: found.us * 1000 }),
        stopped_ns: seen.stopped_ns,
    }
}

/// The tightest limits of the run: they may be set while it runs.
fn limits(seen: &Evidence) -> GroupLimits {
    let readings = seen.waves.iter().flat_map(|wave| [&wave.before, &wave.after]);
    let readings = readings.map(|reading| &reading.limits);
    let mut all = GroupLimits::default();
    for limits in readings.chain(&seen.limits_meanwhile) {
        let cpus = all.cpus.into_iter().chain(limits.cpus);
        all.cpus = cpus.reduce(f64::min);
        all.memory_bytes = all.memory_bytes.into_iter().chain(limits.memory_bytes).min();
        let new: Vec<&String> = limits.io.iter().filter(|line| !all.io.contains(line)).collect();
        all.io.extend(new.into_iter().cloned().collect::<Vec<_>>());
    }
    all
}

pub(super) fn environment(seen: &Evidence) -> Environment {
    let machine = seen.machine.clone();
    let limits = limits(seen);
    Environment {
        tool: seen.tool.clone(),
        host: machine.host,
        kernel: machine.kernel,
        cpu_model: machine.cpu_model,
        cpus: machine.cpus,
        governor: machine.governor,
        memory_bytes: machine.memory_bytes,
        available_memory_bytes: machine.available_bytes,
        virtual_machine: machine.virtual_machine,
        container: machine.container,
        cgroup_cpus: limits.cpus,
        cgroup_memory_bytes: limits.memory_bytes,
        cgroup_io: limits_below(&limits.io, seen),
        pages_out: machine.pages_out,
        filesystems: seen.places.iter().filter_map(|place| place.filesystem.clone()).collect(),
        // Of the parts, which the devices belong to.
        fingerprint: String::new(),
    }
}
