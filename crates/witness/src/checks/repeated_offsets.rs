//! Jobs that go through the same bytes in the same order.

use super::{Found, Rule, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "same-offsets",
    severity: Severity::Warning,
    condition: "two jobs of a wave go through the same range of the same file in order",
    meaning: "numjobs=2 with rw=read reads each offset twice: whoever comes second is served from the \
              page cache, from the device's, or by the first one's request. The sum of the rates is \
              not what the device can do.",
    remedy: "set offset_increment, or give each job a file of its own, or use random places",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    worst_job(ledger, |job| {
        let other = job.asked.repeats_job.as_ref()?;
        Some((
            Severity::Warning,
            format!("it goes through the same bytes in the same order as {other}"),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn a_repetition_is_told_with_whose() {
        let mut ledger = clean();
        ledger.jobs[0].asked.repeats_job = Some("first".into());
        assert!(says(RULE.id, &ledger).unwrap().1.ends_with("as first"));
    }
}
