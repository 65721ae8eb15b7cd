//! fsync calls that no flush of the device followed.

use iosonde_base::text::counted;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::{DeviceLedger, JobLedger, Ledger};

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "lost-flushes",
    severity: Severity::Warning,
    condition: "data was synced (fsync and similar, O_SYNC, end_fsync), a device below it has a \
                volatile write cache, and no flush reached it, or fewer than half as many as were \
                asked for; each device is compared with what was asked of it: the one below the \
                files with the syncs, the one below a loop device with the flushes of that",
    meaning: "fsync promises that data survives a loss of power; on a device with a volatile \
              write cache the file system keeps the promise with a flush. Without a flush (mount \
              option nobarrier, a layer that drops flushes, a file without changes) fsync is fast \
              because it does less than it promises.",
    remedy: "check the mount options and the layers in the ledger's device list; make sure that \
             each fsync has data to write",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let lost = ledger.devices.iter().find(|device| device.lost_flushes());
    let Some(device) = lost else { return Vec::new() };
    let arrived = device.used.get().map_or(0, |used| used.flushes);
    let above = ledger.devices.iter().find(|above| above.made_of.contains(&device.name));
    let text = match above {
        Some(above) if device.level > 0 && above.kind == "loop" => {
            let asked = above.used.get().map_or(0, |used| used.flushes);
            format!(
                "{} reached {}, {} {} below it",
                counted(asked, "flush"),
                above.name,
                if arrived == 0 { "none".to_owned() } else { arrived.to_string() },
                device.name
            )
        }
        _ => by_syncs(ledger, device, arrived),
    };
    Statement::one(Severity::Warning, text)
}

/// Of the jobs on the device, or of all where it is not among those right below.
fn by_syncs(ledger: &Ledger, device: &DeviceLedger, arrived: u64) -> String {
    let jobs = || ledger.jobs.iter().filter(|job| job.writes.is_some());
    let on_device = |job: &&JobLedger| job.files.devices.contains(&device.name);
    let own: Vec<&JobLedger> = jobs().filter(on_device).collect();
    let own = if own.is_empty() { jobs().collect() } else { own };
    let syncs: u64 = own.iter().map(|job| job.syncs.requested).sum();
    let asked = if syncs > 0 {
        counted(syncs, "fsync call")
    } else if own.iter().any(|job| job.options.sync) {
        "each write was to be synced (sync)".to_owned()
    } else {
        "the data was synced at the end".to_owned()
    };
    let how = if unguarded(ledger) { " (mounted without barriers)" } else { "" };
    format!("{asked}, {} reached {}{how}", counted(arrived, "flush"), device.name)
}

/// Whether a file system was told to send no flushes.
fn unguarded(ledger: &Ledger) -> bool {
    let is_set =
        |option: &str| ["nobarrier", "barrier=0", "fsync_mode=nobarrier"].contains(&option);
    ledger.environment.filesystems.iter().any(|facts| facts.options.split(',').any(is_set))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;
    use iosonde_report::ledger::{DeviceUse, Fact, FilesystemFacts};

    fn flushed(flushes: u64) -> Fact<DeviceUse> {
        Fact::Known(DeviceUse { flushes, ..DeviceUse::default() })
    }

    /// A ledger of a device that got so many flushes where so many were due.
    fn due(due: Option<u64>, flushes: u64) -> Ledger {
        let mut ledger = writer();
        (ledger.devices[0].flushes_due, ledger.devices[0].used) = (due, flushed(flushes));
        ledger
    }

    #[test]
    fn fewer_flushes_than_were_due_are_reported_with_what_asked_for_them() {
        assert_eq!(says(RULE.id, &due(Some(500), 500)), None);
        assert_eq!(says(RULE.id, &due(None, 0)), None, "none is needed there");
        let mut ledger = due(Some(500), 3);
        ledger.jobs[0].syncs.requested = 1000;
        let text = |ledger: &Ledger| says(RULE.id, ledger).unwrap().1;
        assert_eq!(text(&ledger), "1000 fsync calls, 3 flushes reached nvme0n1");
        ledger.jobs[0].syncs.requested = 0;
        assert_eq!(text(&ledger), "the data was synced at the end, 3 flushes reached nvme0n1");
        ledger.jobs[0].options.sync = true;
        assert!(text(&ledger).starts_with("each write was to be synced"));
        let options = "rw,nobarrier".into();
        ledger.environment.filesystems = vec![FilesystemFacts { options, ..Default::default() }];
        assert!(text(&ledger).ends_with("reached nvme0n1 (mounted without barriers)"));
    }

    #[test]
    fn a_layer_below_is_compared_with_the_one_above_it() {
        let mut ledger = due(Some(1), 512);
        (ledger.devices[0].name, ledger.devices[0].kind) = ("loop1".into(), "loop".into());
        ledger.devices[0].made_of = vec!["loop0".into()];
        let mut lower = ledger.devices[0].clone();
        (lower.name, lower.level, lower.made_of) = ("loop0".into(), 1, Vec::new());
        (lower.flushes_due, lower.used) = (Some(256), flushed(0));
        ledger.devices.push(lower);
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(text, "512 flushes reached loop1, none loop0 below it");
        ledger.devices[1].used = flushed(256);
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn only_jobs_on_the_device_that_wrote_are_counted() {
        let mut ledger = due(Some(50), 0);
        ledger.jobs[0].syncs.requested = 100;
        let mut other = ledger.jobs[0].clone();
        (other.syncs.requested, other.files.devices) = (7, vec!["sdb".into()]);
        let mut reader = ledger.jobs[0].clone();
        (reader.syncs.requested, reader.writes) = (9, None);
        ledger.jobs.extend([other, reader]);
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.starts_with("100 fsync calls, 0 flushes"), "{text}");
    }
}
