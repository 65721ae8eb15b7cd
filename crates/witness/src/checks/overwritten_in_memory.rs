//! Writes that were overwritten in the page cache before write-back.

use iosonde_base::text::{bytes, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "overwritten-in-memory",
    severity: Severity::Warning,
    condition: "the devices received over 10 % fewer bytes than were written, not counting what was \
                still dirty at the end",
    meaning: "When a block is written again before its first write-back, the page cache holds one \
              copy and the device receives one write. The missing bytes were written at the speed \
              of memory, and end_fsync=1 does not change that: overwritten data never has to be \
              durable.",
    remedy: "set direct=1, or fsync=N or fdatasync=N as the application does; or write each \
             block once: set size to all that is written, without time_based and norandommap",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let Some(writes) = &ledger.writes else { return Vec::new() };
    let files = || ledger.jobs.iter().filter(|job| job.writes.is_some()).map(|job| &job.files);
    // Memory and networks have no devices; compressed bytes are fewer.
    if files().any(|files| files.devices.is_empty() || files.compressing) {
        return Vec::new();
    }
    let Some(left) = writes.dirty_at_end_bytes.get() else { return Vec::new() };
    let mut received: u64 = 0;
    for device in ledger.devices.iter().filter(|device| device.level == 0) {
        let Some(used) = device.used.known() else { return Vec::new() };
        received = received.saturating_add(used.write_bytes);
    }
    // Others' writes are among the devices': at least so many are missing.
    let written = writes.completed_bytes;
    let missing = written.saturating_sub(left).saturating_sub(received);
    if missing == 0 || missing < written / 10 {
        return Vec::new();
    }
    let text = format!(
        "{} of {} written ({}) never reached the device: it was overwritten in the page cache before \
         write-back",
        bytes(missing),
        bytes(written),
        percent(missing as f64 / written as f64)
    );
    Statement::one(Severity::Warning, text)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;
    use iosonde_report::ledger::Fact;

    #[test]
    fn what_neither_left_memory_nor_stayed_in_it_was_overwritten() {
        let mut ledger = writer();
        let used = |bytes| {
            Fact::Known(iosonde_report::ledger::DeviceUse {
                write_bytes: bytes,
                ..Default::default()
            })
        };
        ledger.devices[0].used = used(60 << 30);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.devices[0].used = used(5 << 30);
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.starts_with("55 GiB of 60 GiB written (91.7 %)"), "{text}");
        ledger.writes.as_mut().unwrap().dirty_at_end_bytes = Fact::Known(55 << 30);
        assert_eq!(says(RULE.id, &ledger), None, "not-durable reports it");
        ledger.writes.as_mut().unwrap().dirty_at_end_bytes = Fact::Known(0);
        ledger.jobs[0].files.compressing = true;
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn a_tenth_may_be_missing_and_nothing_may_be_missing_of_little() {
        let mut ledger = writer();
        let mut with = |written: u64, received: u64| {
            ledger.writes.as_mut().unwrap().completed_bytes = written;
            ledger.devices[0].used = Fact::Known(iosonde_report::ledger::DeviceUse {
                write_bytes: received,
                ..Default::default()
            });
            says(RULE.id, &ledger).is_some()
        };
        assert!(!with(100 << 20, 91 << 20) && with(100 << 20, 89 << 20));
        assert!(!with(9, 9), "of nine bytes a tenth is less than one");
        assert!(!with(100 << 20, 200 << 20), "others write too");
    }
}
