//! Writes that were overwritten in memory before the device saw them.

use super::{Found, Rule, bytes, percent};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "overwritten-in-memory",
    severity: Severity::Warning,
    condition: "the devices were given over 10 % fewer bytes than were written, what was left in memory at the end included",
    meaning: "The page cache takes a second write to a place before the first has been written back, \
              and the device sees one. The rate is that of memory for as many bytes as are missing, \
              and end_fsync does not change that: what is overwritten need never be durable.",
    remedy: "set direct=1, or fsync/fdatasync=N as the application does; or write each place once: \
             size as large as all that is written, no time_based, no norandommap",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let Some(writes) = &ledger.writes else { return Vec::new() };
    let files = || ledger.jobs.iter().filter(|job| job.writes.is_some()).map(|job| &job.files);
    // Memory and networks have no devices; compressed bytes are fewer.
    if files().any(|files| files.devices.is_empty() || files.compressing) {
        return Vec::new();
    }
    let Some(&left) = writes.unwritten_bytes.get() else { return Vec::new() };
    let mut given: u64 = 0;
    for device in ledger.devices.iter().filter(|device| device.level == 0) {
        let Some(used) = device.used.get() else { return Vec::new() };
        given = given.saturating_add(used.bytes[1]);
    }
    // Others' writes are among the devices': at least so many are missing.
    let asked = writes.asked_bytes;
    let missing = asked.saturating_sub(left).saturating_sub(given);
    if missing == 0 || missing < asked / 10 {
        return Vec::new();
    }
    let sentence = format!(
        "{} of {} written ({}) never reached the device: it was overwritten in memory before it was \
         written back",
        bytes(missing),
        bytes(asked),
        percent(missing as f64 / asked as f64)
    );
    Found::of_run(Severity::Warning, sentence)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;
    use iosonde_report::ledger::Observed;

    #[test]
    fn what_neither_left_memory_nor_stayed_in_it_was_overwritten() {
        let mut ledger = writer();
        let used = |bytes| {
            Observed::Is(iosonde_report::ledger::DeviceUse {
                bytes: [0, bytes],
                ..Default::default()
            })
        };
        ledger.devices[0].used = used(60 << 30);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.devices[0].used = used(5 << 30);
        let (_, sentence) = says(RULE.id, &ledger).unwrap();
        assert!(sentence.starts_with("55.0 GiB of 60.0 GiB written (91.7 %)"), "{sentence}");
        ledger.writes.as_mut().unwrap().unwritten_bytes = Observed::Is(55 << 30);
        assert_eq!(says(RULE.id, &ledger), None, "it is told as not durable");
        ledger.writes.as_mut().unwrap().unwritten_bytes = Observed::Is(0);
        ledger.jobs[0].files.compressing = true;
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
