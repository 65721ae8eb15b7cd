//! Limits of control groups on I/O or memory.

use iosonde_base::text::bytes;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "group-limits",
    severity: Severity::Warning,
    condition: "a control group limits the process's I/O, or limits its memory below the machine's \
                while the page cache is in use",
    meaning: "An I/O limit below the device's speed is what the run measures. A memory limit \
              bounds the page cache: buffered results are those of a smaller machine.",
    remedy: "run outside the control group or raise io.max and memory.max; or quote the limit \
             with the results",
    check,
};

fn check(ledger: &Ledger) -> Vec<Statement> {
    let environment = &ledger.environment;
    let has_device = ledger.jobs.iter().any(|job| !job.files.devices.is_empty());
    let buffered =
        ledger.jobs.iter().any(|job| !job.direct.requested && !job.files.devices.is_empty());
    let mut parts = Vec::new();
    if has_device && !environment.cgroup_io.is_empty() {
        parts.push(format!("a control group limits I/O: {}", environment.cgroup_io.join(", ")));
    }
    if let Some(limit) = environment.cgroup_memory_bytes
        && buffered
        && limit < environment.memory_bytes
    {
        parts.push(format!(
            "a control group limits memory, page cache included, to {}",
            bytes(limit)
        ));
    }
    match parts.is_empty() {
        true => Vec::new(),
        false => Statement::one(Severity::Warning, parts.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn limits_are_reported_where_they_matter() {
        let mut ledger = clean();
        ledger.environment.cgroup_memory_bytes = Some(1 << 30);
        assert_eq!(says(RULE.id, &ledger), None, "direct I/O needs no page cache");
        ledger.jobs[0].direct.requested = false;
        assert!(says(RULE.id, &ledger).unwrap().1.ends_with("1 GiB"));
        ledger.environment.cgroup_io = vec!["8:0 rbps=1048576".into()];
        assert!(says(RULE.id, &ledger).unwrap().1.contains("8:0 rbps=1048576"));
    }
}
