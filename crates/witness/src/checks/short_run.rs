//! A run that is too short.

use super::worst_job;
use iosonde_base::text::{counted, duration};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "short-run",
    severity: Severity::Note,
    condition: "a job was measured for less than 5 s",
    meaning: "Caches fill, clock frequencies rise and drives wake up in the first seconds. Tail \
              latencies need many I/Os: a p99.9 of fewer than 10000 I/Os rests on fewer than ten \
              of them.",
    remedy: "set runtime=60 and time_based, and ramp_time for the part that is not to count",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    const LEAST_NS: u64 = 5_000_000_000;
    worst_job(ledger, |job| {
        let short =
            job.runtime_ns < LEAST_NS && job.latency.ios > 0 && !job.files.filesystems.is_empty();
        short.then(|| {
            let ios = counted(job.latency.ios, "I/O");
            let text = format!("measured for {}, {ios}", duration(job.runtime_ns));
            (Severity::Note, text)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn five_seconds_are_enough() {
        let mut ledger = clean();
        ledger.jobs[0].runtime_ns = 5_000_000_000;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].runtime_ns = 300_000_000;
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("measured for 300 ms"));
    }

    #[test]
    fn a_job_without_io_or_files_is_not_too_short() {
        let mut ledger = clean();
        ledger.jobs[0].runtime_ns = 4_999_999_999;
        assert!(says(RULE.id, &ledger).is_some());
        ledger.jobs[0].latency.ios = 0;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].latency.ios = 1;
        ledger.jobs[0].files.filesystems.clear();
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
