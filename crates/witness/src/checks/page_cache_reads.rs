//! Reads that came from the page cache.

use iosonde_base::text::{bytes, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::{Fact, Ledger, Reads};

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "page-cache-reads",
    severity: Severity::Wrong,
    condition: "more than 1 % of the bytes read came from the page cache (warning from 5 %, wrong \
                from 50 %)",
    meaning: "Reads that check what was written are not counted here: verify-from-cache is about \
              them. The bytes that the jobs read are compared with the bytes that the kernel fetched \
              from the device for them. Reads from the page cache run at the speed of memory: the \
              rate and the latencies are those of memory, or a mixture of memory and device.",
    remedy: "set direct=1; or read a file much larger than memory with invalidate=1; or state \
             that the page cache was to be measured",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let Some(reads) = &ledger.reads else { return Vec::new() };
    let Some(reads) = without_verify(reads, ledger.verify_reads.as_ref()) else {
        return Vec::new();
    };
    let Some(share) = reads.cache_share().filter(|&share| share > 0.01) else { return Vec::new() };
    let severity = match share {
        share if share >= 0.5 => Severity::Wrong,
        share if share >= 0.05 => Severity::Warning,
        _ => Severity::Note,
    };
    let device = reads.device_bytes.get().unwrap_or(0);
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

/// Reads but for those that check what was written; `None` if there are no
/// others, or if those are not known.
fn without_verify(reads: &Reads, verify: Option<&Reads>) -> Option<Reads> {
    let Some(verify) = verify else { return Some(reads.clone()) };
    let less = |all: &Fact<u64>, part: &Fact<u64>| {
        Some(Fact::Known(all.get()?.saturating_sub(part.get()?)))
    };
    let completed_bytes = reads.completed_bytes.saturating_sub(verify.completed_bytes);
    (completed_bytes > 0).then_some(())?;
    Some(Reads {
        completed_bytes,
        device_bytes: less(&reads.device_bytes, &verify.device_bytes)?,
        cache_bytes: less(&reads.cache_bytes, &verify.cache_bytes)?,
        ..reads.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn the_share_decides() {
        let mut ledger = clean();
        let mut with = |share: f64| {
            let reads = ledger.reads.as_mut().unwrap();
            reads.cache_bytes = Fact::Known((reads.completed_bytes as f64 * share) as u64);
            says(RULE.id, &ledger).map(|(severity, _)| severity)
        };
        assert_eq!(with(0.009), None);
        assert_eq!(with(0.02), Some(Severity::Note));
        assert_eq!(with(0.06), Some(Severity::Warning));
        assert_eq!(with(0.99), Some(Severity::Wrong));
    }

    #[test]
    fn reads_that_check_what_was_written_are_left_to_another_rule() {
        let mut ledger = clean();
        let reads = ledger.reads.as_mut().unwrap();
        reads.cache_bytes = Fact::Known(reads.completed_bytes);
        ledger.verify_reads = ledger.reads.clone();
        assert_eq!(says(RULE.id, &ledger), None);
        let verify = ledger.verify_reads.as_mut().unwrap();
        verify.completed_bytes /= 2;
        (verify.cache_bytes, verify.device_bytes) = (Fact::Known(0), Fact::Known(0));
        assert_eq!(says(RULE.id, &ledger).map(|(severity, _)| severity), Some(Severity::Wrong));
    }

    #[test]
    fn what_is_unknown_is_not_accused() {
        let mut ledger = clean();
        ledger.reads.as_mut().unwrap().cache_bytes = Fact::unknown("fuse");
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn one_percent_is_let_pass() {
        let mut ledger = clean();
        let mut with = |cached: u64| {
            let reads = ledger.reads.as_mut().unwrap();
            (reads.completed_bytes, reads.cache_bytes) = (100 << 20, Fact::Known(cached));
            says(RULE.id, &ledger).is_some()
        };
        assert!(!with(1 << 20) && with((1 << 20) + 4096));
    }

    #[test]
    fn what_verify_read_is_taken_off_each_figure() {
        let mut ledger = clean();
        let reads = ledger.reads.as_mut().unwrap();
        reads.completed_bytes = 100 << 20;
        (reads.cache_bytes, reads.device_bytes) = (Fact::Known(70 << 20), Fact::Known(30 << 20));
        let mut verify = reads.clone();
        verify.completed_bytes = 60 << 20;
        (verify.cache_bytes, verify.device_bytes) = (Fact::Known(50 << 20), Fact::Known(10 << 20));
        ledger.verify_reads = Some(verify);
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert_eq!(
            text,
            "50.0 % of the bytes read came from the page cache: 40 MiB read, 20 MiB fetched from the \
             device"
        );
    }
}
