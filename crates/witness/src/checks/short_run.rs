//! A run too short to say much.

use super::{Found, Rule, time, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "short-run",
    severity: Severity::Note,
    condition: "a job was counted for less than 5 s",
    meaning: "Caches fill, frequencies rise, drives wake up in the first seconds. Tails need many I/Os: \
              a p99.9 of fewer than 10000 rests on fewer than ten of them.",
    remedy: "set runtime=60 with time_based, and ramp_time for what is not to count",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    const LEAST_NS: u64 = 5_000_000_000;
    worst_job(ledger, |job| {
        let short =
            job.runtime_ns < LEAST_NS && job.latency.ios > 0 && !job.files.filesystems.is_empty();
        short.then(|| {
            let told =
                format!("counted for {}, {} I/Os", time(job.runtime_ns as f64), job.latency.ios);
            (Severity::Note, told)
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
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("counted for 300.0 ms"));
    }
}
