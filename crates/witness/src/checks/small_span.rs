//! A working set that fits in a cache.

use iosonde_base::text::bytes;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::{Ledger, SpanBytes};

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "small-span",
    severity: Severity::Note,
    condition: "buffered jobs use less data than fits in memory, or direct jobs less than 1 GiB",
    meaning: "Data that fits in memory will be cached in the next run, whatever happened in this \
              one. Data that fits in a drive's own cache (some GiB of DRAM or of faster flash) is \
              faster than the rest of the drive.",
    remedy: "use twice the machine's memory for buffered jobs, and for direct jobs a size like \
             the application's, 10 GiB or more",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    const DEVICE_CACHE: u64 = 1 << 30;
    // The page cache of a control group ends at its limit.
    let limit = ledger.environment.cgroup_memory_bytes.unwrap_or(u64::MAX);
    let memory = ledger.environment.memory_bytes.min(limit);
    if ledger.reads.is_none() && ledger.writes.is_none() {
        return Vec::new();
    }
    let text = match ledger.span_bytes {
        SpanBytes { buffered, .. } if buffered > 0 && buffered < memory => {
            format!(
                "the {} in use fit in the machine's memory of {}",
                bytes(buffered),
                bytes(memory)
            )
        }
        SpanBytes { buffered: 0, direct } if direct > 0 && direct < DEVICE_CACHE => {
            format!("the {} in use may fit in the device's own cache", bytes(direct))
        }
        _ => return Vec::new(),
    };
    Statement::one(Severity::Note, text)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    fn buffered(bytes: u64) -> SpanBytes {
        SpanBytes { buffered: bytes, direct: 0 }
    }

    fn direct(bytes: u64) -> SpanBytes {
        SpanBytes { buffered: 0, direct: bytes }
    }

    #[test]
    fn the_span_is_held_against_the_cache_that_may_hold_it() {
        let mut ledger = clean();
        ledger.span_bytes = direct(512 << 20);
        assert!(says(RULE.id, &ledger).unwrap().1.contains("device's own"));
        ledger.span_bytes = buffered(512 << 20);
        assert!(says(RULE.id, &ledger).unwrap().1.contains("machine's memory of 16 GiB"));
        ledger.span_bytes = buffered(100 << 30);
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn the_page_cache_ends_at_the_limit_of_the_control_group() {
        let mut ledger = clean();
        ledger.environment.cgroup_memory_bytes = Some(128 << 20);
        ledger.span_bytes = buffered(512 << 20);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.span_bytes = buffered((128 << 20) - 1);
        assert!(says(RULE.id, &ledger).unwrap().1.ends_with("memory of 128 MiB"));
    }

    #[test]
    fn what_is_as_large_as_its_cache_does_not_fit() {
        let mut ledger = clean();
        let memory = ledger.environment.memory_bytes;
        let mut with = |span: SpanBytes| {
            ledger.span_bytes = span;
            says(RULE.id, &ledger).is_some()
        };
        assert!(!with(buffered(memory)) && with(buffered(memory - 1)));
        assert!(!with(direct(1 << 30)) && with(direct((1 << 30) - 1)));
        assert!(!with(direct(0)), "nothing is in use");
    }
}
