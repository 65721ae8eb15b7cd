//! Verify reads that came from the page cache.

use iosonde_base::text::{bytes, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "verify-from-cache",
    severity: Severity::Wrong,
    condition: "more than 1 % of the bytes that verify read back came from the page cache (wrong \
                from 50 %)",
    meaning: "verify reads back what the job wrote and compares it. The bytes that it read are \
              compared with the bytes that the kernel fetched from the device for them. What came \
              from the page cache is what the job put there: it is compared with itself, and \
              nothing is known about what the device holds.",
    remedy: "set direct=1; or leave verify to a run in iosonde's own name, which writes dirty \
             pages and drops them from the page cache before it reads back; or verify in a second \
             run (do_verify=0, then verify_only=1 with invalidate=1). Files on tmpfs are memory: \
             no run can check a device there",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let Some(reads) = &ledger.verify_reads else { return Vec::new() };
    let Some(share) = reads.cache_share().filter(|&share| share > 0.01) else { return Vec::new() };
    let severity = if share >= 0.5 { Severity::Wrong } else { Severity::Warning };
    let device = reads.device_bytes.get().unwrap_or(0);
    Statement::one(
        severity,
        format!(
            "{} of the bytes that verify read back came from the page cache: {} read back, {} \
             fetched from the device",
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
    use iosonde_report::ledger::Fact;

    #[test]
    fn the_share_of_the_reads_that_check_decides() {
        let mut ledger = clean();
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.verify_reads = ledger.reads.clone();
        let mut with = |share: f64| {
            let reads = ledger.verify_reads.as_mut().unwrap();
            reads.cache_bytes = Fact::Known((reads.completed_bytes as f64 * share) as u64);
            says(RULE.id, &ledger).map(|(severity, _)| severity)
        };
        assert_eq!(with(0.0), None);
        assert_eq!(with(0.009), None);
        assert_eq!(with(0.02), Some(Severity::Warning));
        assert_eq!(with(0.5), Some(Severity::Wrong));
    }

    #[test]
    fn what_is_unknown_is_not_accused() {
        let mut ledger = clean();
        ledger.verify_reads = ledger.reads.clone();
        ledger.verify_reads.as_mut().unwrap().cache_bytes = Fact::unknown("fuse");
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn one_percent_is_let_pass() {
        let mut ledger = clean();
        ledger.verify_reads = ledger.reads.clone();
        let mut with = |cached: u64| {
            let reads = ledger.verify_reads.as_mut().unwrap();
            (reads.completed_bytes, reads.cache_bytes) = (100 << 20, Fact::Known(cached));
            says(RULE.id, &ledger).is_some()
        };
        assert!(!with(1 << 20) && with((1 << 20) + 4096));
    }
}
