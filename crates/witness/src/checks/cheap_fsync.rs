//! fsync calls that are faster than the medium.

use super::worst_job;
use iosonde_base::text::duration;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "cheap-fsync",
    severity: Severity::Warning,
    condition: "the median fsync took less than 40 us, or less than 1 ms on a physical disk that \
                reports itself as rotational",
    meaning: "Programming a flash page takes some hundred microseconds; a disk turns once in some \
              milliseconds. A faster fsync means a cache that survives a loss of power \
              (capacitors, a battery), a layer that drops flushes, or nothing to write.",
    remedy: "find out which of the three it is before you rely on it: the drive's data sheet, \
             the hypervisor's cache mode, a power-loss test",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let real_disk = ledger.environment.virtual_machine.is_none()
        && ledger.devices.iter().any(|device| device.facts.rotational == Some(true))
        && ledger.devices.iter().all(|device| device.kind != "loop");
    let least = if real_disk { 1_000_000 } else { 40_000 };
    worst_job(ledger, |job| {
        let has_device = !job.files.devices.is_empty();
        let p50 = job
            .syncs
            .p50_ns
            .filter(|&p50| p50 < least && job.syncs.requested >= 20 && has_device)?;
        // With nothing written between, there is nothing to wait for.
        let writes = job.writes.as_ref()?.completed_bytes / job.options.block_bytes_max.max(1);
        (writes * 2 >= job.syncs.requested).then(|| {
            let text =
                format!("the median fsync took {}: faster than the medium can be", duration(p50));
            (Severity::Warning, text)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;

    #[test]
    fn the_medium_sets_the_limit() {
        let mut ledger = writer();
        ledger.jobs[0].syncs.requested = 1000;
        let mut with = |p50: u64, rotates: bool| {
            ledger.jobs[0].syncs.p50_ns = Some(p50);
            ledger.devices[0].facts.rotational = Some(rotates);
            if let iosonde_report::ledger::Fact::Known(used) = &mut ledger.devices[0].used {
                used.flushes = 1000;
            }
            says(RULE.id, &ledger).is_some()
        };
        assert!(with(5_000, false) && !with(200_000, false));
        assert!(with(200_000, true) && !with(8_000_000, true));
    }

    #[test]
    fn a_sync_counts_where_something_was_written_between() {
        let mut ledger = writer();
        if let iosonde_report::ledger::Fact::Known(used) = &mut ledger.devices[0].used {
            used.flushes = 1000;
        }
        ledger.jobs[0].syncs.requested = 1000;
        let mut with = |p50: u64, blocks: u64| {
            ledger.jobs[0].syncs.p50_ns = Some(p50);
            ledger.jobs[0].writes.as_mut().unwrap().completed_bytes = blocks * 4096;
            says(RULE.id, &ledger).is_some()
        };
        assert!(with(39_999, 500) && !with(40_000, 500), "40 us are the least");
        assert!(!with(5_000, 499), "every second sync had nothing to write");
    }
}
