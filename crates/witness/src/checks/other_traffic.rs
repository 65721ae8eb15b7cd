//! Somebody else on the same device.

use super::{Found, Rule, bytes, percent};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "other-traffic",
    severity: Severity::Warning,
    condition: "more than 5 % of the bytes that the device moved were not the run's",
    meaning: "The device's own counters are held against what the kernel counted for this process. \
              Another program, or a file system's background work, shared the device.",
    remedy: "stop the other traffic and repeat; look for it with iotop or biotop",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let others = &ledger.others;
    let Some(&share) = others.share.get().filter(|&&share| share > 0.05) else { return Vec::new() };
    let read = others.read_bytes.get().copied().unwrap_or(0);
    let written = others.written_bytes.get().copied().unwrap_or(0);
    // A few MiB are a log file or a journal.
    if read + written < 8 << 20 {
        return Vec::new();
    }
    Found::of_run(
        Severity::Warning,
        format!(
            "{} of the device's traffic was not this run's: {} read and {} written by others",
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
    use iosonde_report::ledger::Observed;

    #[test]
    fn a_share_is_told_and_a_trifle_is_not() {
        let mut ledger = clean();
        ledger.others.share = Observed::Is(0.4);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.others.written_bytes = Observed::Is(1 << 30);
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("40.0 %"));
        ledger.others.share = Observed::unknown("no device");
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
