//! A virtual machine's disk, whose cache is the host's secret.

use super::{Found, Rule};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "vm-write-cache",
    severity: Severity::Note,
    condition: "syncs were part of the run in a virtual machine",
    meaning: "What a guest's flush does is the hypervisor's choice: it may reach the medium, a cache \
              of the host, or nothing at all, and no signal in the guest tells.",
    remedy: "ask for the host's cache mode (none, writethrough, writeback, unsafe) and quote it with \
             the figures",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let syncs: u64 = ledger.jobs.iter().map(|job| job.syncs.asked).sum();
    let synced =
        syncs >= 20 || ledger.jobs.iter().any(|job| job.asked.sync && job.writes.is_some());
    let has_device = ledger.jobs.iter().any(|job| !job.files.devices.is_empty());
    match &ledger.environment.virtual_machine {
        Some(kind) if synced && has_device => Found::of_run(
            Severity::Note,
            format!(
                "what a flush does below this virtual machine ({kind}) cannot be seen from within"
            ),
        ),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{says, writer};
    use super::*;

    #[test]
    fn only_syncs_in_a_virtual_machine_are_told() {
        let mut ledger = writer();
        ledger.environment.virtual_machine = Some("QEMU".into());
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].asked.sync = true;
        assert!(says(RULE.id, &ledger).unwrap().1.contains("(QEMU)"));
        ledger.environment.virtual_machine = None;
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
