//! Reads that the cache of a lower layer answered.

use super::{Found, Rule, bytes, percent};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "cache-below",
    severity: Severity::Warning,
    condition: "a loop device delivered over twice the bytes that the devices below it were read for",
    meaning: "A loop device is a file. DirectLedger I/O on it passes the page cache of the file system on \
              it, not that of the file it is made of: reads may come out of memory one layer down. Locations of the file that were never written are \
              nowhere at all.",
    remedy: "attach it with losetup --direct-io=on and write all of it once; or test on a device that is \
             no file",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    for device in ledger.devices.iter().filter(|device| device.kind == "loop") {
        let below = ledger.devices.iter().filter(|other| other.level == device.level + 1);
        let below: Vec<_> = below.filter_map(|other| other.used.get()).collect();
        let (Some(used), false) = (device.used.get(), below.is_empty()) else { continue };
        let (read, fetched) = (used.bytes[0], below.iter().map(|used| used.bytes[0]).sum::<u64>());
        if read >= 1 << 20 && fetched * 2 < read {
            return Found::of_run(
                Severity::Warning,
                format!(
                    "{} delivered {}, of which {} came out of memory below it, or of holes in its file",
                    device.name,
                    bytes(read),
                    percent(1.0 - fetched as f64 / read as f64)
                ),
            );
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;
    use iosonde_report::ledger::{DeviceLedger, DeviceUse, Observed};

    #[test]
    fn what_was_read_above_and_not_below_is_told() {
        let mut ledger = clean();
        ledger.devices[0].kind = "loop".into();
        let used =
            |bytes: u64| Observed::Is(DeviceUse { bytes: [bytes, 0], ..DeviceUse::default() });
        let below = DeviceLedger { level: 1, used: used(60 << 30), ..DeviceLedger::default() };
        assert_eq!(says(RULE.id, &ledger), None, "nothing is known of what is below");
        ledger.devices.push(below);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.devices[1].used = used(0);
        assert!(says(RULE.id, &ledger).unwrap().1.contains("100.0 % came out of memory"));
    }
}
