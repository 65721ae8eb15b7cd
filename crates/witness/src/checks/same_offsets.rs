//! Jobs that access the same bytes in the same order.

use super::worst_job;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "same-offsets",
    severity: Severity::Warning,
    condition: "two jobs that run together access the same range of the same files, or at least half of \
                it, in the same order",
    meaning: "numjobs=2 with rw=read reads each offset twice: the second read is answered by the \
              page cache, by the device's cache, or by the first job's request. The sum of the \
              rates is not what the device can do.",
    remedy: "set offset_increment, or give each job its own file, or use random offsets",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let other = job.options.repeats_job.as_ref()?;
        Some((
            Severity::Warning,
            format!(
                "it accesses the same bytes as job {other}, or most of them, in the same order"
            ),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn a_repetition_is_reported_with_the_other_job() {
        let mut ledger = clean();
        ledger.jobs[0].options.repeats_job = Some("first".into());
        assert!(says(RULE.id, &ledger).unwrap().1.contains("as job first,"));
    }
}
