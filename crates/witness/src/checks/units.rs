//! KiB that is 1000 bytes.

use super::{Found, Rule, worst_job};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "kib-is-1000",
    severity: Severity::Warning,
    condition: "an option says KiB, MiB or GiB while kb_base is 1024, as it is by default",
    meaning: "fio took `k` for 1024 before the IEC units came, and so has `KiB` mean 1000 with the \
              default kb_base=1024. iosonde does the same, to be a drop-in: bs=4KiB is 4000 bytes, \
              which no device likes.",
    remedy: "write 4k for 4096 bytes; or set kb_base=1000, with which KiB is 1024 and k is 1000",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    worst_job(ledger, |job| {
        let first = job.asked.iec_as_si.first()?;
        Some((Severity::Warning, format!("{first} means powers of 1000 here")))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn the_option_is_quoted() {
        let mut ledger = clean();
        ledger.jobs[0].asked.iec_as_si = vec!["bs=4KiB".into()];
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("bs=4KiB means"));
    }
}
