//! A requested queue depth that was not observed at the device.

use super::worst_job;
use iosonde_base::text::count;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "depth-not-reached",
    severity: Severity::Warning,
    condition: "a queue depth of 4 or more was requested and less than a third of it was in flight \
                at the device on average",
    meaning: "iodepth is an upper limit. Most engines submit buffered I/O one at a time; a device \
              that is faster than the submitter, large blocks, and limits of the device or of a \
              layer keep the queue short too. The results are those of the observed depth.",
    remedy: "set direct=1; use io_uring or libaio; use more jobs where one processor cannot keep \
             the queue full; quote the depth observed at the device",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let (requested, at_device) =
            (job.depth.requested_by_all, job.depth.observed_at_device.get()?);
        let shallow = job.depth.requested >= 4 && at_device < requested as f64 / 3.0;
        let ran = !job.options.paced && job.latency.ios >= 1000;
        (shallow && ran).then(|| {
            let together = if requested == u64::from(job.depth.requested) {
                ""
            } else {
                " by all jobs together"
            };
            // A sync is waited for, and nothing is sent meanwhile.
            let every = job.latency.ios.checked_div(job.syncs.requested).unwrap_or(u64::MAX);
            let waits = if every < requested {
                format!(": a sync after about every {every} writes empties the queue")
            } else {
                String::new()
            };
            let text = format!(
                "queue depth {requested} requested{together}, {} observed at the device{waits}",
                count(at_device)
            );
            (Severity::Warning, text)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn a_short_queue_is_reported_unless_the_job_is_paced() {
        let mut ledger = clean();
        ledger.jobs[0].depth.observed_at_device = Fact::Known(0.63);
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(text, "queue depth 32 requested, 0.630 observed at the device");
        ledger.jobs[0].syncs.requested = ledger.jobs[0].latency.ios / 8;
        assert!(says(RULE.id, &ledger).unwrap().1.ends_with("every 8 writes empties the queue"));
        ledger.jobs[0].options.paced = true;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].options.paced = false;
        ledger.jobs[0].depth.observed_at_device = Fact::unknown("no device");
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn a_third_of_the_depth_is_enough_and_a_sync_in_fewer_writes_is_named() {
        let mut ledger = clean();
        let mut with = |depth: u32, at_device: f64, writes: u64| {
            let job = &mut ledger.jobs[0];
            (job.depth.requested, job.depth.requested_by_all) = (depth, u64::from(depth));
            job.depth.observed_at_device = Fact::Known(at_device);
            job.latency.ios = writes * 1000;
            job.syncs.requested = 1000;
            says(RULE.id, &ledger).map(|found| found.1)
        };
        assert!(with(4, 1.3, 100).is_some());
        assert_eq!(with(3, 0.1, 100), None);
        assert_eq!(with(30, 10.0, 100), None);
        assert!(with(30, 9.9, 29).unwrap().ends_with("every 29 writes empties the queue"));
        assert!(with(30, 9.9, 30).unwrap().ends_with("at the device"));
    }
}
