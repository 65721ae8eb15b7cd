//! fsyncs that no flush of the device followed.

use super::{Found, Rule, worst_job};
use iosonde_report::ledger::{JobLedger, Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "lost-flushes",
    severity: Severity::Warning,
    condition: "fsyncs were asked for, the device has a volatile write cache, and fewer than half as many flushes reached it",
    meaning: "An fsync is a promise that data survives a loss of power; for a device whose cache \
              forgets, the file system keeps it by a flush. Without one (mount option nobarrier, a \
              layer that drops flushes, files without changes) the fsync was cheap for the wrong \
              reason.",
    remedy: "look at the mount options and at the layers in the ledger's device list; make sure that \
             each fsync has something to write",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let syncs: u64 = ledger.jobs.iter().map(|job| job.syncs.asked).sum();
    // Jobs that sync at the same time share flushes.
    let together = ledger.jobs.iter().filter(|job| job.syncs.asked > 0).count().max(1) as u64;
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
        let Some(used) = device.used.get() else { return Vec::new() };
        flushes = flushes.max(used.flushes);
    }
    if flushes.saturating_mul(2 * together) >= syncs {
        return Vec::new();
    }
    worst_job(ledger, |job: &JobLedger| {
        let told = format!("{syncs} fsyncs were asked for, {flushes} flushes reached the device");
        (job.syncs.asked > 0).then_some((Severity::Warning, told))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;
    use iosonde_report::ledger::Observed;

    #[test]
    fn flushes_are_counted_against_fsyncs() {
        let mut ledger = writer();
        ledger.jobs[0].syncs.asked = 1000;
        let mut with = |flushes: u64, cache: &str| {
            if let Observed::Is(used) = &mut ledger.devices[0].used {
                used.flushes = flushes;
            }
            ledger.devices[0].facts.write_cache = Some(cache.into());
            says(RULE.id, &ledger)
        };
        assert_eq!(with(1000, "write back"), None);
        let (_, sentence) = with(3, "write back").unwrap();
        assert!(sentence.contains("1000 fsyncs") && sentence.contains("3 flushes"), "{sentence}");
        assert_eq!(with(0, "write through"), None, "none is needed there");
    }
}
