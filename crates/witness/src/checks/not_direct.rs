//! Direct I/O that was asked for and not got.

use super::{Found, Rule, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "not-direct",
    severity: Severity::Wrong,
    condition: "direct=1 was asked for and the bytes went through memory all the same",
    meaning: "Some file systems take the flag and do not heed it: tmpfs has no device; btrfs sends \
              direct writes of files with checksums, and misaligned reads, through the page cache; \
              what programs serve (FUSE) goes where they like. Judged by what came into memory and \
              what the device was asked for, not by the flag.",
    remedy: "test on another file system or on the device itself; on btrfs make an empty file and \
             chattr +C it first; align bs and offsets to the device's sectors",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    worst_job(ledger, |job| {
        let lost = job.direct.asked && job.direct.got.get() == Some(&false);
        lost.then(|| (Severity::Wrong, format!("not direct, although asked: {}", job.direct.why)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Observed;

    #[test]
    fn only_what_was_asked_and_is_known_to_be_lost_is_told() {
        let mut ledger = clean();
        ledger.jobs[0].direct.got = Observed::Is(false);
        ledger.jobs[0].direct.why = "tmpfs is made of memory".into();
        let (severity, sentence) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert!(sentence.ends_with("tmpfs is made of memory"), "{sentence}");
        ledger.jobs[0].direct.asked = false;
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].direct.asked = true;
        ledger.jobs[0].direct.got = Observed::unknown("fuse");
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
