//! Traffic of other programs on the same device.

use iosonde_base::text::{bytes, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "other-traffic",
    severity: Severity::Warning,
    condition: "more than 5 % of the bytes that the device transferred were not from the run",
    meaning: "The device's counters are compared with what the kernel counted for this process. \
              Another program, or background work of the file system, used the device at the same \
              time.",
    remedy: "stop the other traffic and repeat; find it with iotop or biotop",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let others = &ledger.other_traffic;
    let Some(share) = others.share.get().filter(|&share| share > 0.05) else { return Vec::new() };
    let read = others.read_bytes.get().unwrap_or(0);
    let written = others.written_bytes.get().unwrap_or(0);
    // A few MiB are a log file or a journal.
    if read + written < 8 << 20 {
        return Vec::new();
    }
    Statement::one(
        Severity::Warning,
        format!(
            "{} of the device's traffic was not from this run: {} read and {} written by others",
            percent(share),
            bytes(read),
            bytes(written)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn a_share_is_reported_and_a_few_mib_are_not() {
        let mut ledger = clean();
        ledger.other_traffic.share = Fact::Known(0.4);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.other_traffic.written_bytes = Fact::Known(1 << 30);
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("40.0 %"));
        ledger.other_traffic.share = Fact::unknown("no device");
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn five_percent_and_less_than_8_mib_are_let_pass() {
        let mut ledger = clean();
        let mut with = |share: f64, read: u64, written: u64| {
            let others = &mut ledger.other_traffic;
            others.share = Fact::Known(share);
            others.read_bytes = Fact::Known(read);
            others.written_bytes = Fact::Known(written);
            says(RULE.id, &ledger).is_some()
        };
        assert!(!with(0.05, 1 << 30, 0) && with(0.051, 1 << 30, 0));
        assert!(!with(0.5, 4 << 20, (4 << 20) - 1) && with(0.5, 4 << 20, 4 << 20));
    }
}
