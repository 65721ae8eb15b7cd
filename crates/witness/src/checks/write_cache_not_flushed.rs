//! Writes that may be in the device's volatile write cache.

use iosonde_base::text::bytes;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::{DeviceLedger, Fact, Ledger};

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "write-cache-not-flushed",
    severity: Severity::Warning,
    condition: "the device has a volatile write cache and no flush is known to have followed the \
                last write; warning where flushes cannot reach what holds the data: a loop device \
                set to `write through` over the page cache of its backing file, or over a device \
                with a volatile write cache",
    meaning: "Direct I/O bypasses the page cache, not the device's own cache. With a write cache \
              of mode `write back` an acknowledged write may be lost with the power until the \
              next flush, and the rate is that of the device's cache while there is room in it.",
    remedy: "of a loop device set its queue/write_cache to `write back`; else set end_fsync=1, or fsync=N or fdatasync=N as the application does, or sync=dsync; \
             and write more than the device's cache holds",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let Some(writes) = &ledger.writes else { return Vec::new() };
    // What is not even at the device is reported by another rule, and so are lost flushes.
    let unreached = ledger.devices.iter().filter(|device| ledger.drops_flushes(device));
    let (direct, cached): (Vec<_>, Vec<_>) =
        unreached.partition(|device| device.facts.backing_direct == Some(true));
    let unreached = if cached.is_empty() { &direct } else { &cached };
    if !unreached.is_empty() {
        let names: Vec<&str> = unreached.iter().map(|device| device.name.as_str()).collect();
        let what = if cached.is_empty() { "the volatile write cache" } else { "memory" };
        let text = format!(
            "writes may be in {what} below {}: its write cache is set to `write through`, so that \
             no flush reaches its backing file{}",
            names.join(", "),
            dirty_below(ledger)
        );
        return Statement::one(Severity::Warning, text);
    }
    if ledger.devices.iter().any(DeviceLedger::lost_flushes) {
        return Vec::new();
    }
    let on_device = writes.dirty_at_end_share().is_some_and(|share| share <= 0.01);
    if writes.in_volatile_cache != Fact::Known(true) || !on_device {
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
    let synced = ledger.jobs.iter().any(|job| job.writes.is_some() && job.syncs.requested > 0);
    let how =
        if synced { "no sync is known to have followed them" } else { "no flush followed them" };
    let dirty = dirty_below(ledger);
    let text =
        format!("the last writes may be in the volatile write cache of {names}: {how}{dirty}");
    Statement::one(Severity::Note, text)
}

/// `; 64 MiB of its backing file were dirty`, of the loop devices right below the files.
fn dirty_below(ledger: &Ledger) -> String {
    let top = ledger.devices.iter().filter(|device| device.level == 0);
    let known = top.filter_map(|device| device.dirty_below_bytes.as_ref()?.get());
    match known.sum::<u64>() {
        0 => String::new(),
        dirty => format!("; at the end {} of the file below were dirty in memory", bytes(dirty)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;

    #[test]
    fn a_loop_device_that_gets_no_flushes_is_a_warning() {
        let mut ledger = writer();
        ledger.devices[0].kind = "loop".into();
        let facts = &mut ledger.devices[0].facts;
        (facts.write_cache, facts.backing_direct) = (Some("write through".into()), Some(false));
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert!(severity == Severity::Warning && text.contains("below nvme0n1"), "{text}");
        assert!(text.ends_with("its backing file"), "{text}");
        ledger.devices[0].dirty_below_bytes = Some(Fact::Known(64 << 20));
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(
            text.ends_with("at the end 64 MiB of the file below were dirty in memory"),
            "{text}"
        );
        ledger.devices[0].facts.backing_direct = Some(true);
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn a_direct_loop_device_is_one_over_a_volatile_cache() {
        let mut ledger = writer();
        let mut lower = ledger.devices[0].clone();
        (lower.name, lower.level) = ("loop1".into(), 1);
        lower.facts.write_cache = Some("write back".into());
        let upper = &mut ledger.devices[0];
        (upper.kind, upper.made_of) = ("loop".into(), vec!["loop1".into()]);
        upper.facts.write_cache = Some("write through".into());
        upper.facts.backing_direct = Some(true);
        ledger.devices.push(lower);
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Warning);
        assert!(text.contains("the volatile write cache below nvme0n1"), "{text}");
        ledger.devices[1].facts.write_cache = Some("write through".into());
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn lost_flushes_are_left_to_their_own_rule() {
        let mut ledger = writer();
        ledger.writes.as_mut().unwrap().in_volatile_cache = Fact::Known(true);
        assert!(says(RULE.id, &ledger).is_some());
        ledger.devices[0].flushes_due = Some(u64::MAX);
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn a_volatile_cache_without_a_flush_is_reported() {
        let mut ledger = writer();
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.writes.as_mut().unwrap().in_volatile_cache = Fact::Known(true);
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.contains("nvme0n1"), "{text}");
        ledger.writes.as_mut().unwrap().dirty_at_end_bytes = Fact::Known(30 << 30);
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn it_is_reported_whether_the_job_synced() {
        let mut ledger = writer();
        ledger.writes.as_mut().unwrap().in_volatile_cache = Fact::Known(true);
        let text = |ledger: &Ledger| says(RULE.id, ledger).unwrap().1;
        assert!(text(&ledger).ends_with("no flush followed them"));
        ledger.jobs[0].syncs.requested = 1;
        assert!(text(&ledger).ends_with("no sync is known to have followed them"));
        // A job that reads syncs nothing of what was written.
        ledger.jobs[0].writes = None;
        assert!(text(&ledger).ends_with("no flush followed them"));
    }
}
