//! A stall that a closed loop hides.

use super::worst_job;
use iosonde_base::text::duration;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "closed-loop",
    severity: Severity::Note,
    condition: "the longest I/O of a job without a rate took over 50 ms and over 50 times the p99",
    meaning: "A job without a rate waits for the device before it issues the next I/O. In a stall \
              of a second it issues one I/O where users would have issued a thousand, so \
              percentiles leave out most of the delay that users would see (coordinated \
              omission).",
    remedy: "set rate_iops to the intended load and read the response times, which count from \
             when an I/O was due",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let latency = &job.latency;
        let stalled = latency.max_ns > 50_000_000
            && latency.p99_ns > 0
            && latency.max_ns > latency.p99_ns.saturating_mul(50);
        (stalled && !job.options.paced).then(|| {
            let text = format!(
                "a {} stall lies above the p99 of {}: no I/O was issued meanwhile",
                duration(latency.max_ns),
                duration(latency.p99_ns)
            );
            (Severity::Note, text)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn a_long_stall_is_reported_unless_the_job_is_paced() {
        let mut ledger = clean();
        ledger.jobs[0].latency.max_ns = 1_000_000_000;
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("a 1.00 s stall"));
        ledger.jobs[0].options.paced = true;
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn a_stall_is_long_by_itself_and_beside_the_p99() {
        let mut ledger = clean();
        let mut with = |max_ns: u64, p99_ns: u64| {
            (ledger.jobs[0].latency.max_ns, ledger.jobs[0].latency.p99_ns) = (max_ns, p99_ns);
            says(RULE.id, &ledger).is_some()
        };
        assert!(with(50_000_001, 1_000_000) && !with(50_000_000, 900_000));
        assert!(with(100_000_001, 2_000_000) && !with(100_000_000, 2_000_000));
        assert!(!with(1_000_000_000, 0), "percentiles are off");
        assert!(with(1_000_000_000, 1));
    }
}
