//! Reads that came from the cache of a lower layer.

use iosonde_base::text::{bytes, percent};
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "cache-below",
    severity: Severity::Warning,
    condition: "a loop device delivered more than twice the bytes that were read from the devices \
                below it, or that can have entered the page cache of its backing file; or more than \
                1 % of what was only read from it are holes in its backing file",
    meaning: "A loop device is backed by a file. Direct I/O to the loop device bypasses the page \
              cache of the file system on it, but not that of the backing file: reads may come \
              from memory one layer below. Ranges of the backing file that were never written are \
              on no device.",
    remedy: "attach the loop device with losetup --direct-io=on and write all of it once; or \
             test a device that is not backed by a file",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    for device in ledger.devices.iter().filter(|device| device.kind == "loop") {
        let below = ledger.devices.iter().filter(|other| other.level == device.level + 1);
        let below: Vec<_> = below.filter_map(|other| other.used.get()).collect();
        let Some(used) = device.used.get() else { continue };
        let read = used.read_bytes;
        if let Some(share) = device.holes_below_share.filter(|&share| share > 0.01 && read > 0) {
            return Statement::one(
                Severity::Warning,
                format!(
                    "{} of what was read from {} are holes in its backing file: no device has them",
                    percent(share),
                    device.name
                ),
            );
        }
        if below.is_empty() {
            continue;
        }
        let fetched = below.iter().map(|used| used.read_bytes).sum::<u64>();
        // Others may read from the devices below, and what entered the page cache of the
        // backing file is known too; of direct I/O to it, nothing does.
        let entered = device.entered_below_bytes.as_ref().and_then(|entered| entered.get());
        let cached = device.facts.backing_direct == Some(false);
        let fetched = entered.filter(|_| cached).map_or(fetched, |entered| fetched.min(entered));
        if read >= 1 << 20 && fetched * 2 < read {
            return Statement::one(
                Severity::Warning,
                format!(
                    "{} of the {} read from {} came from memory below it, or from holes in its \
                     backing file",
                    percent(1.0 - fetched as f64 / read as f64),
                    bytes(read),
                    device.name
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
    use iosonde_report::ledger::{DeviceLedger, DeviceUse, Fact};

    #[test]
    fn what_was_read_above_and_not_below_is_told() {
        let mut ledger = clean();
        ledger.devices[0].kind = "loop".into();
        let used =
            |bytes: u64| Fact::Known(DeviceUse { read_bytes: bytes, ..DeviceUse::default() });
        let below = DeviceLedger { level: 1, used: used(60 << 30), ..DeviceLedger::default() };
        assert_eq!(says(RULE.id, &ledger), None, "nothing is known of what is below");
        ledger.devices.push(below);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.devices[1].used = used(0);
        assert!(says(RULE.id, &ledger).unwrap().1.starts_with("100 % of the 60 GiB"));
    }

    #[test]
    fn holes_in_the_backing_file_are_known_without_counters_below() {
        let mut ledger = clean();
        ledger.devices[0].kind = "loop".into();
        for (share, is_found) in [(0.01, false), (0.5, true)] {
            ledger.devices[0].holes_below_share = Some(share);
            assert_eq!(says(RULE.id, &ledger).is_some(), is_found, "{share}");
        }
        let (_, text) = says(RULE.id, &ledger).unwrap();
        assert!(text.starts_with("50.0 % of what was read from nvme0n1 are holes"), "{text}");
    }

    #[test]
    fn others_that_read_the_disk_below_do_not_hide_it() {
        let mut ledger = clean();
        ledger.devices[0].kind = "loop".into();
        let used =
            |bytes: u64| Fact::Known(DeviceUse { read_bytes: bytes, ..DeviceUse::default() });
        ledger.devices[0].used = used(60 << 30);
        ledger.devices.push(DeviceLedger {
            level: 1,
            used: used(90 << 30),
            ..DeviceLedger::default()
        });
        ledger.devices[0].entered_below_bytes = Some(Fact::Known(1 << 20));
        assert_eq!(says(RULE.id, &ledger), None, "it is not known to use the page cache");
        ledger.devices[0].facts.backing_direct = Some(false);
        assert!(says(RULE.id, &ledger).is_some());
        ledger.devices[0].entered_below_bytes = Some(Fact::Known(60 << 30));
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn a_mib_is_the_least_and_half_of_it_is_enough() {
        let mut ledger = clean();
        ledger.devices[0].kind = "loop".into();
        let used =
            |bytes: u64| Fact::Known(DeviceUse { read_bytes: bytes, ..DeviceUse::default() });
        ledger.devices.push(DeviceLedger { level: 1, used: used(0), ..DeviceLedger::default() });
        for (read, fetched, is_found) in [
            (1 << 20, 0, true),
            ((1 << 20) - 1, 0, false),
            (4 << 20, 2 << 20, false),
            (4 << 20, (2 << 20) - 1, true),
        ] {
            (ledger.devices[0].used, ledger.devices[1].used) = (used(read), used(fetched));
            assert_eq!(says(RULE.id, &ledger).is_some(), is_found, "{fetched} of {read}");
        }
    }
}
