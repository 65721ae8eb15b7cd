//! Writes that are in a cache of the device that forgets.

use super::{Found, Rule};
use iosonde_report::ledger::{Ledger, Observed, Severity};

pub(super) const RULE: Rule = Rule {
    id: "write-cache-not-flushed",
    severity: Severity::Note,
    condition: "the device has a volatile write cache and nothing is sure to have flushed it after the last write",
    meaning: "DirectLedger I/O passes the page cache, not the device's own. With a write cache of mode \
              `write back` an acknowledged write may be lost with the power until a flush: the rate \
              is that of the device's memory as long as there is room in it.",
    remedy: "set end_fsync=1, or fsync/fdatasync=N as the application does, or sync=dsync; and write \
             more than the device's cache holds",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let Some(writes) = &ledger.writes else { return Vec::new() };
    // What is not even at the device is told by another rule.
    let on_device = writes.unwritten_share().is_some_and(|share| share <= 0.01);
    if writes.in_device_cache != Observed::Is(true) || !on_device {
        return Vec::new();
    }
    let names: Vec<&str> = ledger
        .devices
        .iter()
        .filter(|device| device.level == 0)
        .filter(|device| device.facts.write_cache.as_deref() == Some("write back"))
        .map(|device| device.name.as_str())
        .collect();
    let names = if names.is_empty() { "the device".to_owned() } else { names.join(", ") };
    let synced = ledger.jobs.iter().any(|job| job.writes.is_some() && job.syncs.asked > 0);
    let how = match synced {
        true => "no sync is sure to have come after the last",
        false => "no flush came after the last",
    };
    let sentence = format!("writes ended in the volatile cache of {names}: {how}");
    Found::of_run(Severity::Note, sentence)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;

    #[test]
    fn a_volatile_cache_without_a_flush_is_told() {
        let mut ledger = writer();
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.writes.as_mut().unwrap().in_device_cache = Observed::Is(true);
        let (_, sentence) = says(RULE.id, &ledger).unwrap();
        assert!(sentence.contains("nvme0n1"), "{sentence}");
        ledger.writes.as_mut().unwrap().unwritten_bytes = Observed::Is(30 << 30);
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
