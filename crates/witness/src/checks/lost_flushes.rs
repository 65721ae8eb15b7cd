//! fsync calls that no flush of the device followed.

use super::worst_job;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::{JobLedger, Ledger};

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "lost-flushes",
    severity: Severity::Warning,
    condition: "fsync was called, the device has a volatile write cache, and fewer than half as \
                many flushes reached it",
    meaning: "fsync promises that data survives a loss of power; on a device with a volatile \
              write cache the file system keeps the promise with a flush. Without a flush (mount \
              option nobarrier, a layer that drops flushes, a file without changes) fsync is fast \
              because it does less than it promises.",
    remedy: "check the mount options and the layers in the ledger's device list; make sure that \
             each fsync has data to write",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let syncs: u64 = ledger.jobs.iter().map(|job| job.syncs.requested).sum();
    // Syncs that are in flight at the same time share flushes: of several jobs, or
    // of one that queues them.
    let syncing = ledger.jobs.iter().filter(|job| job.syncs.requested > 0);
    let together = syncing.map(|job| u64::from(job.depth.requested.max(1))).sum::<u64>().max(1);
    let top: Vec<_> = ledger.devices.iter().filter(|device| device.level == 0).collect();
    let volatile = |device: &&&iosonde_report::ledger::DeviceLedger| {
        device.facts.write_cache.as_deref() == Some("write back")
    };
    if syncs < 20 || top.is_empty() || top.iter().filter(volatile).count() < top.len() {
        return Vec::new();
    }
    // A mapped device does not count its flushes; what is below it does.
    let mut flushes = 0;
    for device in &ledger.devices {
        let Some(used) = device.used.known() else { return Vec::new() };
        flushes = flushes.max(used.flushes);
    }
    if flushes.saturating_mul(2 * together) >= syncs {
        return Vec::new();
    }
    worst_job(ledger, |job: &JobLedger| {
        let text = format!("{syncs} fsync calls, {flushes} flushes reached the device");
        (job.syncs.requested > 0).then_some((Severity::Warning, text))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn flushes_are_counted_against_fsyncs() {
        let mut ledger = writer();
        ledger.jobs[0].syncs.requested = 1000;
        let mut with = |flushes: u64, cache: &str| {
            if let Fact::Known(used) = &mut ledger.devices[0].used {
                used.flushes = flushes;
            }
            ledger.devices[0].facts.write_cache = Some(cache.into());
            says(RULE.id, &ledger)
        };
        assert_eq!(with(1000, "write back"), None);
        let (_, text) = with(3, "write back").unwrap();
        assert!(text.contains("1000 fsync calls") && text.contains("3 flushes"), "{text}");
        assert_eq!(with(0, "write through"), None, "none is needed there");
    }

    #[test]
    fn syncs_in_flight_together_may_share_a_flush() {
        let mut ledger = writer();
        ledger.jobs[0].syncs.requested = 6400;
        let mut with = |flushes: u64, depth: u32| {
            ledger.jobs[0].depth.requested = depth;
            if let Fact::Known(used) = &mut ledger.devices[0].used {
                used.flushes = flushes;
            }
            says(RULE.id, &ledger).is_some()
        };
        assert!(!with(100, 32) && with(99, 32), "32 share one, twice as many are let pass");
        assert!(with(3199, 1) && !with(3200, 1));
    }

    /// A ledger of so many syncs, none of which the device saw.
    fn unflushed(syncs: u64) -> Ledger {
        let mut ledger = writer();
        ledger.jobs[0].syncs.requested = syncs;
        ledger.jobs[0].depth.requested = 1;
        ledger.devices[0].facts.write_cache = Some("write back".into());
        ledger
    }

    #[test]
    fn a_few_syncs_show_nothing() {
        assert_eq!(says(RULE.id, &unflushed(19)), None);
        assert!(says(RULE.id, &unflushed(20)).is_some());
        let mut nowhere = unflushed(20);
        nowhere.devices.clear();
        assert_eq!(says(RULE.id, &nowhere), None, "no device has flushes to count");
        let mut mixed = unflushed(1000);
        let mut second = mixed.devices[0].clone();
        second.facts.write_cache = Some("write through".into());
        mixed.devices.push(second);
        assert_eq!(says(RULE.id, &mixed), None, "one of two needs none");
    }

    #[test]
    fn only_jobs_that_sync_count_and_are_named() {
        let mut ledger = unflushed(6400);
        let mut reader = ledger.jobs[0].clone();
        reader.name = "reader".into();
        reader.syncs.requested = 0;
        reader.depth.requested = 100_000;
        ledger.jobs.insert(0, reader);
        if let Fact::Known(used) = &mut ledger.devices[0].used {
            used.flushes = 100;
        }
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.starts_with("db: ") && !text.contains("also"), "{text}");
    }
}
