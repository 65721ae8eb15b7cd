//! A span that fits into a cache.

use super::{Found, Rule, bytes};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "small-span",
    severity: Severity::Note,
    condition: "buffered jobs use less than memory holds, or direct jobs less than 1 GiB",
    meaning: "What fits into memory will be in memory the next time, whatever it was this time. What \
              fits into a drive's own memory (some GiB of DRAM, or tables of a part of its flash) is \
              faster than the rest of the drive.",
    remedy: "use twice the machine's memory for buffered jobs, and for direct ones a span like the \
             application's, 10 GiB or more",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    const DEVICE_CACHE: u64 = 1 << 30;
    let memory = ledger.environment.memory_bytes;
    let said = match ledger.span_bytes {
        [buffered, _] if buffered > 0 && buffered < memory => {
            format!(
                "the {} that were used fit into the machine's memory of {}",
                bytes(buffered),
                bytes(memory)
            )
        }
        [0, direct] if direct > 0 && direct < DEVICE_CACHE => {
            format!("the {} that were used may fit into the device's own memory", bytes(direct))
        }
        _ => return Vec::new(),
    };
    Found::of_run(Severity::Note, said)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn the_span_is_held_against_the_cache_that_may_hold_it() {
        let mut ledger = clean();
        ledger.span_bytes = [0, 512 << 20];
        assert!(says(RULE.id, &ledger).unwrap().1.contains("device's own"));
        ledger.span_bytes = [512 << 20, 0];
        assert!(says(RULE.id, &ledger).unwrap().1.contains("machine's memory of 16.0 GiB"));
        ledger.span_bytes = [100 << 30, 0];
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
