//! KiB that means 1000 bytes.

use super::worst_job;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "kib-is-1000",
    severity: Severity::Warning,
    condition: "an option has the unit KiB, MiB or GiB while kb_base is 1024, the default",
    meaning: "fio used `k` for 1024 before the IEC units existed, so with the default \
              kb_base=1024 `KiB` means 1000. iosonde does the same, as a drop-in replacement: \
              bs=4KiB is 4000 bytes, which few devices handle well.",
    remedy: "write 4k for 4096 bytes; or set kb_base=1000, where KiB is 1024 and k is 1000",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    worst_job(ledger, |job| {
        let first = job.options.iec_as_si.first()?;
        Some((Severity::Warning, format!("{first} is in powers of 1000 here")))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn the_option_is_quoted() {
        let mut ledger = clean();
        ledger.jobs[0].options.iec_as_si = vec!["bs=4KiB".into()];
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("bs=4KiB is"));
    }
}
