//! A virtual disk: only the host knows its cache mode.

use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "vm-write-cache",
    severity: Severity::Note,
    condition: "the run called fsync or used O_SYNC in a virtual machine",
    meaning: "The hypervisor handles a guest's flush: it may reach the medium, stop in \
              a cache of the host, or do nothing. No counter in the guest shows which.",
    remedy: "find out the host's cache mode (none, writethrough, writeback, unsafe) and quote it \
             with the results",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let syncs: u64 = ledger.jobs.iter().map(|job| job.syncs.requested).sum();
    let synced =
        syncs >= 20 || ledger.jobs.iter().any(|job| job.options.sync && job.writes.is_some());
    let has_device = ledger.jobs.iter().any(|job| !job.files.devices.is_empty());
    match &ledger.environment.virtual_machine {
        Some(kind) if synced && has_device => Statement::one(
            Severity::Note,
            format!(
                "the effect of a flush below this virtual machine ({kind}) cannot be seen from inside it"
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
    fn only_syncs_in_a_virtual_machine_are_reported() {
        let mut ledger = writer();
        ledger.environment.virtual_machine = Some("QEMU".into());
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.jobs[0].options.sync = true;
        assert!(says(RULE.id, &ledger).unwrap().1.contains("(QEMU)"));
        ledger.environment.virtual_machine = None;
        assert_eq!(says(RULE.id, &ledger), None);
    }
}
