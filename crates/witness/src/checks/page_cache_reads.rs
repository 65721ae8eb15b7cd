//! Reads that came from the page cache.

use iosonde_base::text::{bytes, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "page-cache-reads",
    severity: Severity::Wrong,
    condition: "more than 1 % of the bytes read came from the page cache (warning from 5 %, wrong \
                from 50 %)",
    meaning: "The bytes that the jobs read are compared with the bytes that the kernel fetched \
              from the device for them. Reads from the page cache run at the speed of memory: the \
              rate and the latencies are those of memory, or a mixture of memory and device.",
    remedy: "set direct=1; or read a file much larger than memory with invalidate=1; or state \
             that the page cache was to be measured",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let Some(reads) = &ledger.reads else { return Vec::new() };
    let Some(share) = reads.cache_share().filter(|&share| share > 0.01) else { return Vec::new() };
    let severity = match share {
        share if share >= 0.5 => Severity::Wrong,
        share if share >= 0.05 => Severity::Warning,
        _ => Severity::Note,
    };
    let device = reads.device_bytes.get().copied().unwrap_or(0);
    Statement::one(
        severity,
        format!(
            "{} of the bytes read came from the page cache: {} read, {} fetched from the device",
            percent(share),
            bytes(reads.completed_bytes),
            bytes(device)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::Observed;

    #[test]
    fn the_share_decides() {
        let mut ledger = clean();
        let mut with = |share: f64| {
            let reads = ledger.reads.as_mut().unwrap();
            reads.cache_bytes = Observed::Is((reads.completed_bytes as f64 * share) as u64);
            says(RULE.id, &ledger).map(|(severity, _)| severity)
        };
        assert_eq!(with(0.009), None);
        assert_eq!(with(0.02), Some(Severity::Note));
        assert_eq!(with(0.06), Some(Severity::Warning));
        assert_eq!(with(0.99), Some(Severity::Wrong));
    }

    #[test]
    fn what_is_unknown_is_not_accused() {
        let mut ledger = clean();
        ledger.reads.as_mut().unwrap().cache_bytes = Observed::unknown("fuse");
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
