//! A device that is made of memory.

use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "memory-device",
    severity: Severity::Wrong,
    condition: "a device below the files is a RAM disk (brd, zram) or a loop device of a file on \
                tmpfs",
    meaning: "Its bytes are in this machine's memory: rates and latencies are those of memory and \
              of the processor, and nothing on it outlives a loss of power.",
    remedy: "test a device with a medium; for a loop device, a file on a file system of a disk",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    if ledger.reads.is_none() && ledger.writes.is_none() {
        return Vec::new();
    }
    let of_memory = ledger.devices.iter().filter(|device| device.in_memory);
    let names: Vec<&str> = of_memory.map(|device| device.name.as_str()).collect();
    if names.is_empty() {
        Vec::new()
    } else {
        Statement::one(
            Severity::Wrong,
            format!("{} is made of memory: no medium was tested", names.join(" and ")),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn a_device_of_memory_is_no_medium() {
        let mut ledger = clean();
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.devices[0].in_memory = true;
        let (severity, text) = says(RULE.id, &ledger).unwrap();
        assert_eq!(severity, Severity::Wrong);
        assert!(text.starts_with("nvme0n1 is made of memory"), "{text}");
    }
}
