//! Data that shrinks, on a file system that compresses.

use super::{Found, Rule, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "compressible-data",
    severity: Severity::Warning,
    condition: "what is written is constant, repeats or compresses, on a file system that compresses or removes duplicates",
    meaning: "Zeros and patterns shrink to nothing: the device gets a fraction of the bytes, and the \
              rate is that of the compressor.",
    remedy: "leave zero_buffers, buffer_pattern, dedupe_percentage and buffer_compress_percentage out, \
             or mount without compression",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    worst_job(ledger, |job| {
        let shrinking = job.files.filesystems.iter().find(|kind| {
            job.files.compressing || matches!(kind.as_str(), "zfs" | "vdo" | "bcachefs")
        })?;
        (job.asked.compressible && job.writes.is_some()).then(|| {
            let told = format!(
                "it writes data that compresses or repeats, on {shrinking} that may compress it"
            );
            (Severity::Warning, told)
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
        ledger.jobs[0].asked.compressible = true;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].files.filesystems = vec!["btrfs".into()];
        ledger.jobs[0].files.compressing = true;
        assert!(says(RULE.id, &ledger).is_some());
        ledger.jobs[0].asked.compressible = false;
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
