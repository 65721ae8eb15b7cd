//! Limits of control groups on I/O or memory.

use iosonde_base::text::bytes;
use iosonde_report::finding::{FindingRule, Severity, Statement};
use iosonde_report::ledger::Ledger;

pub(super) const RULE: FindingRule<Ledger> = FindingRule {
    id: "group-limits",
    severity: Severity::Warning,
    condition: "a control group limits the process's I/O on a device below the files to less than four \
                times what it did, or limits its memory below the machine's \
                while the page cache is in use",
    meaning: "An I/O limit below the device's speed is what the run measures. A memory limit \
              bounds the page cache: buffered results are those of a smaller machine.",
    remedy: "run outside the control group or raise io.max and memory.max; or quote the limit \
             with the results",
    check,
};

/// Whether a limit is less than four times what the devices did: others are too
/// far away to matter. `8:0 rbps=1048576 wiops=max`.
fn is_near(line: &str, ledger: &Ledger) -> bool {
    let seconds = ledger.machine.wall_ns as f64 / 1e9;
    let used = ledger.devices.iter().filter_map(|device| device.used.known());
    let [mut read, mut written, mut reads, mut writes] = [0.0; 4];
    for used in used {
        read += used.read_bytes as f64;
        written += used.write_bytes as f64;
        reads += used.read_ios as f64;
        writes += used.write_ios as f64;
    }
    line.split_ascii_whitespace().any(|limit| {
        let Some((name, figure)) = limit.split_once('=') else { return false };
        let Ok(figure) = figure.parse::<f64>() else { return false };
        let done = match name {
            "rbps" => read,
            "wbps" => written,
            "riops" => reads,
            "wiops" => writes,
            _ => return true,
        };
        seconds == 0.0 || figure < 4.0 * done / seconds
    })
}

fn check(ledger: &Ledger) -> Vec<Statement> {
    let environment = &ledger.environment;
    let has_device = ledger.jobs.iter().any(|job| !job.files.devices.is_empty());
    let buffered =
        ledger.jobs.iter().any(|job| !job.direct.requested && !job.files.devices.is_empty());
    let mut parts = Vec::new();
    let near: Vec<&str> = environment
        .cgroup_io
        .iter()
        .map(String::as_str)
        .filter(|line| is_near(line, ledger))
        .collect();
    if has_device && !near.is_empty() {
        parts.push(format!("a control group limits I/O: {}", near.join(", ")));
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
    if parts.is_empty() { Vec::new() } else { Statement::one(Severity::Warning, parts.join("; ")) }
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

    #[test]
    fn a_limit_far_above_what_was_done_does_not_matter() {
        let mut ledger = clean();
        // 60 GiB read in a minute by 15 Mi requests, and little written.
        for (line, is_near) in [
            ("8:0 rbps=107374182400", false),
            ("8:0 rbps=4294967295", true),
            ("8:0 rbps=4294967296", false),
            ("8:0 riops=1048575", true),
            ("8:0 riops=1048576", false),
            ("8:0 wbps=69905", true),
            ("8:0 wbps=69906", false),
            ("8:0 wiops=6", true),
            ("8:0 wiops=7", false),
            ("8:0 rbps=max wbps=max", false),
        ] {
            ledger.environment.cgroup_io = vec![line.into()];
            assert_eq!(says(RULE.id, &ledger).is_some(), is_near, "{line}");
        }
    }

    #[test]
    fn what_several_devices_did_is_added_up() {
        let mut ledger = clean();
        let second = ledger.devices[0].clone();
        ledger.devices.push(second);
        ledger.environment.cgroup_io = vec!["8:0 rbps=8589934591".into()];
        assert!(says(RULE.id, &ledger).is_some(), "four times 2 GiB/s");
        ledger.environment.cgroup_io = vec!["8:0 wiops=13".into()];
        assert!(says(RULE.id, &ledger).is_some());
        ledger.environment.cgroup_io = vec!["8:0 wiops=14".into()];
        assert_eq!(says(RULE.id, &ledger), None);
    }

    #[test]
    fn a_memory_limit_of_all_memory_is_none() {
        let mut ledger = clean();
        ledger.jobs[0].direct.requested = false;
        let memory = ledger.environment.memory_bytes;
        ledger.environment.cgroup_memory_bytes = Some(memory);
        assert_eq!(says(RULE.id, &ledger), None);
        ledger.environment.cgroup_memory_bytes = Some(memory - 1);
        assert!(says(RULE.id, &ledger).is_some());
    }
}
