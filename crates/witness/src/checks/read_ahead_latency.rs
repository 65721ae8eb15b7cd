//! Latencies of reads that read-ahead had brought to memory.

use super::worst_job;
use iosonde_base::text::{duration, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

/// With fewer requests for each read the median is of reads that did not wait.
const WAITED_LEAST: f64 = 0.5;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "read-ahead-latency",
    severity: Severity::Note,
    condition: "the device delivered at least half of the bytes of buffered reads, and fewer than \
                half of the reads waited for it",
    meaning: "The kernel reads ahead of a program that reads in order, so that most reads find \
              their data in memory. The rate is the device's; the median, and often p99, is the \
              time of a copy from memory. The device's times are in the highest percentiles only.",
    remedy: "take the rate, not the latency; for the device's latency set direct=1, or read at \
             random with invalidate=1",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        // Of a mix the median is of writes, too.
        let only_reads = !job.direct.requested && job.writes.is_none();
        let reads = job.reads.as_ref().filter(|_| only_reads)?;
        let delivered = reads.device_bytes.get()?;
        let waited = reads.requests_per_read.get()?;
        let ahead = delivered >= reads.completed_bytes / 2 && waited < WAITED_LEAST;
        ahead.then(|| {
            let words = format!(
                "{} of the reads waited for the device: the others found what read-ahead had \
                 brought to memory, and the median of {} is theirs",
                percent(waited),
                duration(job.latency.p50_ns)
            );
            (Severity::Note, words)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn latencies_of_memory_beside_a_rate_of_the_device_are_named() {
        let with = |direct: bool, share: f64, waited: f64| {
            let mut ledger = clean();
            let job = &mut ledger.jobs[0];
            job.direct.requested = direct;
            let reads = job.reads.as_mut().unwrap();
            reads.device_bytes = Fact::Known((reads.completed_bytes as f64 * share) as u64);
            reads.requests_per_read = Fact::Known(waited);
            says(RULE.id, &ledger)
        };
        let (severity, text) = with(false, 0.98, 0.06).unwrap();
        assert!(severity == Severity::Note && text.contains("6.0 % of the reads waited"), "{text}");
        assert_eq!(with(false, 0.98, 0.5), None);
        assert_eq!(with(false, 0.4, 0.06), None, "mostly the page cache's, which is found besides");
        assert_eq!(with(true, 1.0, 0.2), None);
    }
}
