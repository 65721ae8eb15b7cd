//! A queue depth that was asked for and did not come about at the device.

use super::{Found, Rule, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "depth-not-reached",
    severity: Severity::Warning,
    condition: "a depth of 4 or more was asked for and less than a third of it was in flight at the device on average",
    meaning: "iodepth is a wish. Buffered I/O is served one at a time by most engines; a device that \
              is faster than the submitter, large blocks, a limit of the device or of a layer keep \
              the queue shallow. The figures are those of the depth that was there.",
    remedy: "set direct=1; take io_uring or libaio; use more jobs where one processor cannot keep the \
             queue full; quote the depth at the device",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    worst_job(ledger, |job| {
        let (asked, at_device) = (job.depth.asked_together, *job.depth.device.get()?);
        let shallow = job.depth.asked >= 4 && at_device < asked as f64 / 3.0;
        let ran = !job.asked.paced && job.latency.ios >= 1000;
        (shallow && ran).then(|| {
            let together =
                if asked == u64::from(job.depth.asked) { "" } else { " by all jobs together" };
            // A sync is waited for, and nothing is sent meanwhile.
            let every = job.latency.ios.checked_div(job.syncs.asked).unwrap_or(u64::MAX);
            let waits = match every < asked {
                true => format!(": a sync after every {every} writes or so empties the queue"),
                false => String::new(),
            };
            let told = format!(
                "depth {asked} was asked for{together}, {at_device:.2} were in flight at the \
                 device{waits}"
            );
            (Severity::Warning, told)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Observed;

    #[test]
    fn a_shallow_queue_is_told_unless_it_was_meant() {
        let mut ledger = clean();
        ledger.jobs[0].depth.device = Observed::Is(0.63);
        let (_, sentence) = says(RULE.id, &ledger).unwrap();
        assert_eq!(sentence, "depth 32 was asked for, 0.63 were in flight at the device");
        ledger.jobs[0].syncs.asked = ledger.jobs[0].latency.ios / 8;
        assert!(
            says(RULE.id, &ledger).unwrap().1.ends_with("every 8 writes or so empties the queue")
        );
        ledger.jobs[0].asked.paced = true;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].asked.paced = false;
        ledger.jobs[0].depth.device = Observed::unknown("no device");
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
