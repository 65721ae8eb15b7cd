//! Reads of bytes that are nowhere on the device.

use super::{Found, Rule, bytes, percent};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "holes-read",
    severity: Severity::Wrong,
    condition: "more than 1 % of the bytes read lie in holes or in blocks that were reserved and never written",
    meaning: "The file system answers such reads with zeros and asks no device, direct I/O or not. A \
              file made by truncate or fallocate is all hole: reads of it are as fast as the \
              processor.",
    remedy: "write the file first: remove it and let the job lay it out, or run a write job over all \
             of it before",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let Some(reads) = &ledger.reads else { return Vec::new() };
    let Some(share) = reads.hole_share().filter(|&share| share > 0.01) else { return Vec::new() };
    let how = if reads.holes_by_share { ", by the share of the file that has no data" } else { "" };
    let severity = if share >= 0.1 { Severity::Wrong } else { Severity::Warning };
    let sentence = format!(
        "{} of the bytes read ({}) are nowhere on the device{how}",
        percent(share),
        bytes(reads.hole_bytes.get().copied().unwrap_or(0))
    );
    Found::of_run(severity, sentence)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Observed;

    #[test]
    fn holes_are_told_with_how_they_are_known() {
        let mut ledger = clean();
        let reads = ledger.reads.as_mut().unwrap();
        reads.hole_bytes = Observed::Is(reads.asked_bytes);
        reads.holes_by_share = true;
        let (severity, sentence) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert!(sentence.starts_with("100.0 %") && sentence.contains("by the share"), "{sentence}");
        ledger.reads.as_mut().unwrap().hole_bytes = Observed::Is(1 << 20);
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
