//! Files that are no storage, such as /dev/null.

use super::worst_job;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "no-storage",
    severity: Severity::Wrong,
    condition: "a file of a job is a character device of the kernel's memory: /dev/null, /dev/zero, \
                /dev/full, /dev/random",
    meaning: "The kernel discards what is written to /dev/null and answers reads of /dev/zero with \
              zeros. No byte is stored anywhere, so that the rate is that of system calls and of \
              memory, and nothing is ever durable.",
    remedy: "name a file on a file system or a block device; to measure the cost of the tester \
             itself, use ioengine=null",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let first = job.files.no_storage.first()?;
        let more = match job.files.no_storage.len() as u64 - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        Some((Severity::Wrong, format!("{first}{more} is no storage: the kernel answers itself")))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;

    #[test]
    fn a_device_that_stores_nothing_is_named() {
        let mut ledger = writer();
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].files.no_storage = vec!["/dev/null".into()];
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert!(text.contains("/dev/null is no storage"), "{text}");
    }
}
