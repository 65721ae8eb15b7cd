//! Direct I/O that was requested and not honoured.

use super::worst_job;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "not-direct",
    severity: Severity::Wrong,
    condition: "direct=1 was requested and the data went through the page cache",
    meaning: "Some file systems accept O_DIRECT and ignore it: tmpfs has no device; btrfs sends \
              direct writes of checksummed files, and misaligned direct reads, through the page \
              cache; a FUSE file system decides for itself. The rule looks at what entered the \
              page cache and at the requests that reached the device, not at the flag.",
    remedy: "test on another file system or on the device itself; on btrfs create an empty file \
             and run chattr +C on it first; align bs and offsets to the device's sector size",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let lost = job.direct.requested && job.direct.honoured.get() == Some(false);
        lost.then(|| {
            (
                Severity::Wrong,
                format!("direct I/O was requested and not honoured: {}", job.direct.reason),
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn only_a_request_that_is_known_to_be_lost_is_reported() {
        let mut ledger = clean();
        ledger.jobs[0].direct.honoured = Fact::Known(false);
        ledger.jobs[0].direct.reason = "tmpfs keeps its files in memory".into();
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert!(text.ends_with("tmpfs keeps its files in memory"), "{text}");
        ledger.jobs[0].direct.requested = false;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].direct.requested = true;
        ledger.jobs[0].direct.honoured = Fact::unknown("fuse");
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
