//! Reads of ranges without data on the device.

use iosonde_base::text::{bytes, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "holes-read",
    severity: Severity::Wrong,
    condition: "more than 1 % of the bytes read are in holes or in extents that were allocated and \
                never written",
    meaning: "The file system answers such reads with zeros and does not access the device, with \
              direct I/O too. A file made by truncate or fallocate has no data: reading it runs \
              at the speed of the processor.",
    remedy: "write the file first: remove it and let the job lay it out, or run a write job over \
             all of it",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let Some(reads) = &ledger.reads else { return Vec::new() };
    let Some(share) = reads.hole_share().filter(|&share| share > 0.01) else { return Vec::new() };
    let how = if reads.holes_estimated {
        ", estimated from the share of the file without data"
    } else {
        ""
    };
    let severity = if share >= 0.1 { Severity::Wrong } else { Severity::Warning };
    let text = format!(
        "{} of the bytes read ({}) have no data on the device{how}",
        percent(share),
        bytes(reads.hole_bytes.get().unwrap_or(0))
    );
    Statement::one(severity, text)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn holes_are_reported_with_how_they_are_known() {
        let mut ledger = clean();
        let reads = ledger.reads.as_mut().unwrap();
        reads.hole_bytes = Fact::Known(reads.completed_bytes);
        reads.holes_estimated = true;
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert!(text.starts_with("100 %") && text.contains("estimated from"), "{text}");
        ledger.reads.as_mut().unwrap().hole_bytes = Fact::Known(1 << 20);
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn one_percent_of_holes_is_let_pass() {
        let mut ledger = clean();
        let mut with = |holes: u64| {
            let reads = ledger.reads.as_mut().unwrap();
            (reads.completed_bytes, reads.hole_bytes) = (100 << 20, Fact::Known(holes));
            says(RULE.id, &ledger).map(|(severity, _)| severity)
        };
        assert_eq!(with(1 << 20), None);
        assert_eq!(with((1 << 20) + 4096), Some(Severity::Warning));
        assert_eq!(with((10 << 20) - 4096), Some(Severity::Warning));
        assert_eq!(with(10 << 20), Some(Severity::Wrong));
    }
}
