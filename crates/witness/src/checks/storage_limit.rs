//! Limits of control groups on storage or memory.

use super::{Found, Rule, bytes};
use iosonde_report::ledger::{Ledger, Severity};

pub(super) const RULE: Rule = Rule {
    id: "group-limits",
    severity: Severity::Warning,
    condition: "a control group limits the process's I/O, or its memory below the machine's while the page cache is in use",
    meaning: "A limit of I/O is what is measured, if it is lower than the device. A limit of memory \
              bounds the page cache: buffered figures are those of a smaller machine.",
    remedy: "run outside the group or raise io.max and memory.max; or quote the limit with the figures",
    check,
};

fn check(ledger: &Ledger) -> Vec<Found> {
    let environment = &ledger.environment;
    let has_device = ledger.jobs.iter().any(|job| !job.files.devices.is_empty());
    let buffered = ledger.jobs.iter().any(|job| !job.direct.asked && !job.files.devices.is_empty());
    let mut said = Vec::new();
    if has_device && !environment.group_io.is_empty() {
        said.push(format!("a control group limits I/O: {}", environment.group_io.join(", ")));
    }
    if let Some(limit) = environment.group_memory_bytes
        && buffered
        && limit < environment.memory_bytes
    {
        said.push(format!(
            "a control group limits memory, page cache included, to {}",
            bytes(limit)
        ));
    }
    match said.is_empty() {
        true => Vec::new(),
        false => Found::of_run(Severity::Warning, said.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{clean, says};
    use super::*;

    #[test]
    fn limits_are_told_where_they_bear() {
        let mut ledger = clean();
        ledger.environment.group_memory_bytes = Some(1 << 30);
        assert_eq!(says(RULE.id, &ledger), None, "direct I/O needs no page cache");
        ledger.jobs[0].direct.asked = false;
        assert!(says(RULE.id, &ledger).unwrap().1.ends_with("1.0 GiB"));
        ledger.environment.group_io = vec!["8:0 rbps=1048576".into()];
        assert!(says(RULE.id, &ledger).unwrap().1.contains("8:0 rbps=1048576"));
    }
}
