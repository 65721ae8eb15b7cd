//! A stall that a closed loop hides.

use super::{Found, Rule, time, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "closed-loop",
    severity: Severity::Note,
    condition: "without a pace, the longest I/O took over 50 ms and over 50 times the p99",
    meaning: "A job without a pace waits for the device before it asks again. In a stall of a second \
              it asks once, where users would have asked a thousand times: percentiles hide what they \
              would have felt (coordinated omission).",
    remedy: "set rate_iops to the load that is meant and read the response times, which count from \
             when an I/O was due",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    worst_job(ledger, |job| {
        let latency = &job.latency;
        let stalled = latency.max_ns > 50_000_000
            && latency.p99_ns > 0
            && latency.max_ns > latency.p99_ns.saturating_mul(50);
        (stalled && !job.asked.paced).then(|| {
            let told = format!(
                "a stall of {} hides above the p99 of {}: no I/O was asked for meanwhile",
                time(latency.max_ns as f64),
                time(latency.p99_ns as f64)
            );
            (Severity::Note, told)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn a_long_stall_is_told_unless_the_job_is_paced() {
        let mut ledger = clean();
        ledger.jobs[0].latency.max_ns = 1_000_000_000;
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("a stall of 1.0 s"));
        ledger.jobs[0].asked.paced = true;
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
