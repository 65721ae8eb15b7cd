//! Hazards of the devices below a path.

use super::super::survey::{PathSurvey, QueueSettings};
use iosonde_base::text::bytes;
use iosonde_direct::stack::LayerKind;
use iosonde_direct::{DeviceFacts, WriteCache, ZoneModel};
use iosonde_report::finding::{FindingRule, Severity, Statement};

/// The rules.
pub(super) static RULES: &[FindingRule<PathSurvey>] = &[
    FindingRule {
        id: "loop-cached",
        severity: Severity::Warning,
        condition: "a loop device accesses its backing file through the page cache",
        meaning: "Direct I/O to the loop device ends in memory.",
        remedy: "attach it with losetup --direct-io=on",
        check: loop_cached,
    },
    FindingRule {
        id: "misaligned",
        severity: Severity::Warning,
        condition: "a partition does not begin at a physical sector of its disk",
        meaning: "Each block touches two sectors.",
        remedy: "create the partition at a multiple of 1 MiB",
        check: misaligned,
    },
    FindingRule {
        id: "swap",
        severity: Severity::Warning,
        condition: "a device is used as swap",
        meaning: "The machine may write to it at any time.",
        remedy: "use swapoff for the test",
        check: swap,
    },
    FindingRule {
        id: "rebuilding",
        severity: Severity::Warning,
        condition: "a software RAID is rebuilding or checking",
        meaning: "The array copies or reads data during the test.",
        remedy: "wait until /proc/mdstat shows no action",
        check: rebuilding,
    },
    FindingRule {
        id: "rotational-guess",
        severity: Severity::Note,
        condition: "a virtual disk reports itself as rotational",
        meaning: "Drivers of virtual disks do so by default: the system reads ahead and orders requests as for a disk that rotates.",
        remedy: "ask the provider what backs this disk; write 0 to its queue/rotational if it does not rotate",
        check: rotational_guess,
    },
    FindingRule {
        id: "scheduler",
        severity: Severity::Note,
        condition: "a disk that does not rotate has an I/O scheduler, and none is available",
        meaning: "The scheduler costs time on each I/O and may reorder requests.",
        remedy: "compare with none (ioscheduler=none, as root)",
        check: scheduler,
    },
    FindingRule {
        id: "read-ahead",
        severity: Severity::Note,
        condition: "a disk reads ahead by more than 1 MiB",
        meaning: "Buffered sequential reads measure the read-ahead, and random reads may fetch too much.",
        remedy: "set direct=1, or a smaller queue/read_ahead_kb",
        check: read_ahead,
    },
    FindingRule {
        id: "not-counted",
        severity: Severity::Warning,
        condition: "a disk does not count its I/O (queue/iostats is 0)",
        meaning: "Nothing shows which I/O reached the disk: the ledger and the disk statistics are incomplete.",
        remedy: "write 1 to its queue/iostats",
        check: not_counted,
    },
    FindingRule {
        id: "write-cache",
        severity: Severity::Note,
        condition: "a disk has a volatile write cache",
        meaning: "An acknowledged write may be in the disk's memory until a flush.",
        remedy: "use fsync, fdatasync or end_fsync=1 if durable writes count",
        check: write_cache,
    },
    FindingRule {
        id: "zoned",
        severity: Severity::Warning,
        condition: "a disk is zoned and host-managed",
        meaning: "Each zone must be written in order.",
        remedy: "use zonemode=zbd, or a file system for zoned disks",
        check: zoned,
    },
    FindingRule {
        id: "sector-size",
        severity: Severity::Note,
        condition: "a disk has physical sectors that are larger than its logical ones",
        meaning: "Writes smaller than a physical sector become read-modify-write.",
        remedy: "use blocks of at least the physical sector size",
        check: sector_size,
    },
    FindingRule {
        id: "removable",
        severity: Severity::Note,
        condition: "a disk is removable or on USB",
        meaning: "The bus may be the limit.",
        remedy: "compare with another port",
        check: removable,
    },
];

/// What `check` finds about each device.
fn each_device(
    survey: &PathSurvey,
    check: impl Fn(&DeviceFacts, &QueueSettings) -> Option<(Severity, String)>,
) -> Vec<Statement> {
    let devices = survey.facts.devices.iter().zip(&survey.queues);
    let found = devices.filter_map(|(device, queue)| check(device, queue));
    found.flat_map(|(severity, text)| Statement::one(severity, text)).collect()
}

/// What `check` finds about each device that is a whole disk.
fn each_disk(
    survey: &PathSurvey,
    check: impl Fn(&DeviceFacts, &QueueSettings) -> Option<(Severity, String)>,
) -> Vec<Statement> {
    let disks = survey.facts.disks();
    each_device(survey, |device, queue| {
        let is_disk = disks.iter().any(|disk| disk.id == device.id);
        if is_disk { check(device, queue) } else { None }
    })
}

fn rotates(device: &DeviceFacts) -> bool {
    device.rotational.get() == Some(true)
}

fn is_virtual(device: &DeviceFacts) -> bool {
    device.transport.known().is_some_and(|by| by == "virtio" || by == "xen")
}

fn loop_cached(survey: &PathSurvey) -> Vec<Statement> {
    each_device(survey, |device, _| {
        let name = &device.name;
        let LayerKind::Loop(file) = &device.kind else { return None };
        let cached = device.loop_direct.get() == Some(false);
        let text = || format!("{name} accesses {} through the page cache", file.display());
        cached.then(|| (Severity::Warning, text()))
    })
}

fn misaligned(survey: &PathSurvey) -> Vec<Statement> {
    each_device(survey, |device, _| {
        let name = &device.name;
        let misaligned = device.alignment_offset.get().is_some_and(|offset| offset > 0);
        let text = || format!("{name} does not begin at a physical sector of its disk");
        misaligned.then(|| (Severity::Warning, text()))
    })
}

fn swap(survey: &PathSurvey) -> Vec<Statement> {
    each_device(survey, |device, _| {
        let name = &device.name;
        device.swap.then(|| (Severity::Warning, format!("{name} is used as swap")))
    })
}

fn rebuilding(survey: &PathSurvey) -> Vec<Statement> {
    each_device(survey, |device, queue| {
        let name = &device.name;
        let action = queue.rebuilding.as_ref()?;
        Some((Severity::Warning, format!("{name} is at work on its own ({})", action.trim())))
    })
}

fn rotational_guess(survey: &PathSurvey) -> Vec<Statement> {
    each_disk(survey, |device, _| {
        let name = &device.name;
        let guessed = rotates(device) && is_virtual(device);
        guessed.then(|| {
            (Severity::Note, format!("{name} is virtual and reports itself as rotational"))
        })
    })
}

fn scheduler(survey: &PathSurvey) -> Vec<Statement> {
    each_disk(survey, |device, queue| {
        let name = &device.name;
        let scheduler = device.scheduler.known()?;
        let avoidable = (!rotates(device) || is_virtual(device))
            && scheduler != "none"
            && queue.schedulers.iter().any(|one| one == "none");
        avoidable.then(|| (Severity::Note, format!("{name} has the I/O scheduler {scheduler}")))
    })
}

fn read_ahead(survey: &PathSurvey) -> Vec<Statement> {
    each_disk(survey, |device, queue| {
        let name = &device.name;
        let ahead = queue.read_ahead_bytes.get().filter(|&ahead| ahead > 1 << 20)?;
        Some((Severity::Note, format!("{name} reads up to {} ahead", bytes(ahead))))
    })
}

fn not_counted(survey: &PathSurvey) -> Vec<Statement> {
    each_disk(survey, |device, queue| {
        let name = &device.name;
        let uncounted = queue.counted.get() == Some(false);
        uncounted.then(|| (Severity::Warning, format!("{name} does not count its I/O")))
    })
}

fn write_cache(survey: &PathSurvey) -> Vec<Statement> {
    each_disk(survey, |device, _| {
        let name = &device.name;
        let volatile = device.write_cache.get() == Some(WriteCache::Back);
        volatile.then(|| (Severity::Note, format!("{name} has a volatile write cache")))
    })
}

fn zoned(survey: &PathSurvey) -> Vec<Statement> {
    each_disk(survey, |device, _| {
        let name = &device.name;
        let managed = matches!(device.zones.get(), Some(ZoneModel::Managed(_)));
        managed
            .then(|| (Severity::Warning, format!("{name} must be written in order, zone by zone")))
    })
}

fn sector_size(survey: &PathSurvey) -> Vec<Statement> {
    each_disk(survey, |device, _| {
        let name = &device.name;
        let (logical, physical) = (device.logical_sector.get()?, device.physical_sector.get()?);
        let text =
            || format!("{name} has logical sectors of {logical} and physical of {physical} bytes");
        (physical > logical).then(|| (Severity::Note, text()))
    })
}

fn removable(survey: &PathSurvey) -> Vec<Statement> {
    each_disk(survey, |device, _| {
        let name = &device.name;
        let removable = device.removable.get() == Some(true)
            || device.transport.known().is_some_and(|by| by == "usb");
        removable.then(|| (Severity::Note, format!("{name} is removable or on USB")))
    })
}
