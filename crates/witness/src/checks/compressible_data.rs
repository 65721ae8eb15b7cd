//! Data that compresses, on a file system that compresses.

use super::worst_job;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "compressible-data",
    severity: Severity::Warning,
    condition: "the data written is constant, repeats or compresses, on a file system that \
                compresses or deduplicates",
    meaning: "Zeros and patterns shrink to almost nothing: the device receives a fraction of the \
              bytes, and the rate is that of the compressor.",
    remedy: "remove zero_buffers, buffer_pattern, dedupe_percentage and \
             buffer_compress_percentage, or mount without compression",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let shrinking = job.files.filesystems.iter().find(|kind| {
            job.files.compressing || matches!(kind.as_str(), "zfs" | "vdo" | "bcachefs")
        })?;
        (job.options.compressible && job.writes.is_some()).then(|| {
            let text = format!(
                "it writes data that compresses or repeats to {shrinking}, which may compress it"
            );
            (Severity::Warning, text)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;

    #[test]
    fn both_must_come_together() {
        let mut ledger = writer();
        ledger.jobs[0].options.compressible = true;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].files.filesystems = vec!["btrfs".into()];
        ledger.jobs[0].files.compressing = true;
        assert!(says(RULE.id, &ledger).is_some());
        ledger.jobs[0].options.compressible = false;
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
