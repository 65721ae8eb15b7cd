//! One sentence on a run: what limited it, and what its figures may be used for.

use iosonde_base::text::{count, percent};
use iosonde_report::finding::{Finding, Severity};
use iosonde_report::ledger::{Conclusion, Fact, JobLedger, Ledger, LimitedBy};

/// What limited a run with these findings; `None` where no I/O was measured.
pub fn conclude(ledger: &Ledger) -> Option<Conclusion> {
    if ledger.jobs.iter().all(|job| job.latency.ios == 0) {
        return None;
    }
    let (limit, words) = limit(ledger);
    let target = target(ledger);
    let usable = usable(ledger, &limit, &target);
    Some(Conclusion { limit, text: format!("Limited by {words}; {usable}.") })
}

/// The devices right below the files, else the file systems.
fn target(ledger: &Ledger) -> String {
    let names = |of: fn(&JobLedger) -> &Vec<String>| {
        let mut names: Vec<&str> = Vec::new();
        for name in ledger.jobs.iter().flat_map(of) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        match names.as_slice() {
            [] => None,
            [one] => Some((*one).to_owned()),
            [one, other] => Some(format!("{one} and {other}")),
            [one, rest @ ..] => Some(format!("{one} and {} other devices", rest.len())),
        }
    };
    let devices = names(|job| &job.files.devices);
    devices.or_else(|| names(|job| &job.files.filesystems)).unwrap_or("the storage".to_owned())
}

/// What held the rate back, most certain first.
fn limit(ledger: &Ledger) -> (LimitedBy, String) {
    let found = |ids: &[&str]| ledger.verdict.iter().any(|f| ids.contains(&f.id.as_ref()));
    if ledger.jobs.iter().all(|job| job.options.paced) {
        return (LimitedBy::Pace, "the job's own rate or think time".to_owned());
    }
    if !touches_storage(ledger) {
        return (LimitedBy::Tester, "the tester itself, as no storage was involved".to_owned());
    }
    if let Some(share) = memory_share(ledger).filter(|&share| share >= 0.5) {
        let words = format!("memory: {} of the bytes stayed in the page cache", percent(share));
        return (LimitedBy::Memory, words);
    }
    if found(&["group-limits"]) && !ledger.environment.cgroup_io.is_empty() {
        return (LimitedBy::Quota, "the control group's limit of I/O".to_owned());
    }
    if found(&["tool-bound"]) {
        return (LimitedBy::Tester, "the tester itself".to_owned());
    }
    if found(&["cpu-bound", "cpu-taken"]) {
        return (LimitedBy::Processor, "the processor".to_owned());
    }
    (LimitedBy::Storage, format!("{} at queue depth {}", target(ledger), depth(ledger)))
}

fn touches_storage(ledger: &Ledger) -> bool {
    let on_storage =
        |job: &JobLedger| !job.files.devices.is_empty() || !job.files.filesystems.is_empty();
    !ledger.devices.is_empty() || ledger.jobs.iter().any(on_storage)
}

/// The share of all bytes that came from the page cache or were still in it at
/// the end.
fn memory_share(ledger: &Ledger) -> Option<f64> {
    let (reads, writes) = (ledger.reads.as_ref(), ledger.writes.as_ref());
    let moved = reads.map_or(0, |reads| reads.completed_bytes)
        + writes.map_or(0, |writes| writes.completed_bytes);
    let known = |observed: Option<&Fact<u64>>| observed.map_or(Some(0), |observed| observed.get());
    let cached = known(reads.map(|reads| &reads.cache_bytes))?;
    let dirty = known(writes.map(|writes| &writes.dirty_at_end_bytes))?;
    iosonde_report::ledger::share((cached + dirty).min(moved), moved)
}

/// The depth of the job with the deepest queue, as it was where that is known.
fn depth(ledger: &Ledger) -> String {
    let deepest = ledger.jobs.iter().max_by_key(|job| job.depth.requested_by_all);
    let Some(depth) = deepest.map(|job| &job.depth) else { return "unknown".to_owned() };
    let requested = depth.requested_by_all.max(u64::from(depth.requested)).max(1);
    match depth.observed_at_device.get() {
        // A device that merges or splits requests has another depth than the job.
        Some(observed) if requested > 1 && observed < requested as f64 * 0.7 => {
            format!("{} ({requested} requested)", count(observed))
        }
        _ => requested.to_string(),
    }
}

/// What the figures may be used for.
fn usable(ledger: &Ledger, limit: &LimitedBy, target: &str) -> String {
    if let Some(finding) = ledger.verdict.iter().find(|f| f.severity >= Severity::Wrong) {
        return match limit {
            LimitedBy::Memory => format!("these are not figures of {target}"),
            _ => format!("not usable as figures of {target} [{}]", finding.id),
        };
    }
    let warnings: Vec<&Finding> =
        ledger.verdict.iter().filter(|finding| finding.severity == Severity::Warning).collect();
    if *limit == LimitedBy::Storage && !ledger.unknown_statements().is_empty() {
        return format!("whether these are figures of {target} is unknown, as stated below");
    }
    let says = |id: &str| ledger.verdict.iter().any(|finding| finding.id == id);
    if says("not-steady") {
        return "the mean covers two rates: use the one after the change".to_owned();
    }
    if says("not-durable") {
        return "use the durable rate, not the reported one".to_owned();
    }
    match (limit, warnings.as_slice()) {
        (LimitedBy::Pace, _) => "use the latencies, not the rate".to_owned(),
        (LimitedBy::Tester, _) => "an upper bound, not a figure of storage".to_owned(),
        (_, [first, ..]) => format!("usable with the warnings below, first {}", first.id),
        _ if says("short-run") => "a first impression: the run was short".to_owned(),
        _ => format!("usable as rate and latency of {target} under this load"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::fixture::{clean, writer};
    use crate::judge;

    fn concluded(ledger: &Ledger) -> Conclusion {
        let mut ledger = ledger.clone();
        ledger.verdict = judge(&ledger);
        conclude(&ledger).unwrap()
    }

    #[test]
    fn a_clean_run_is_limited_by_its_device_and_usable() {
        let found = concluded(&clean());
        assert_eq!(found.limit, LimitedBy::Storage);
        assert_eq!(
            found.text,
            "Limited by nvme0n1 at queue depth 32; usable as rate and latency of nvme0n1 under \
             this load."
        );
    }

    #[test]
    fn reads_from_memory_are_no_figures_of_the_device() {
        let mut ledger = clean();
        for reads in [&mut ledger.reads, &mut ledger.jobs[0].reads] {
            let reads = reads.as_mut().unwrap();
            reads.cache_bytes = Fact::Known(reads.completed_bytes);
            reads.device_bytes = Fact::Known(0);
        }
        let found = concluded(&ledger);
        assert_eq!(found.limit, LimitedBy::Memory);
        assert!(found.text.contains("100 % of the bytes stayed in the page cache"), "{found:?}");
        assert!(found.text.ends_with("these are not figures of nvme0n1."), "{found:?}");
    }

    #[test]
    fn a_pace_a_quota_and_the_tester_are_named() {
        let mut paced = clean();
        paced.jobs[0].options.paced = true;
        let found = concluded(&paced);
        assert_eq!(found.limit, LimitedBy::Pace);
        assert!(found.text.contains("use the latencies, not the rate"), "{found:?}");

        let mut limited = clean();
        limited.environment.cgroup_io = vec!["8:0 rbps=1048576".into()];
        assert_eq!(concluded(&limited).limit, LimitedBy::Quota);

        let mut null = clean();
        null.devices.clear();
        null.jobs[0].files = Default::default();
        (null.reads, null.jobs[0].reads) = (None, None);
        assert_eq!(concluded(&null).limit, LimitedBy::Tester);
    }

    #[test]
    fn dirty_data_names_the_rate_to_quote_and_no_io_concludes_nothing() {
        let mut ledger = writer();
        for writes in [&mut ledger.writes, &mut ledger.jobs[0].writes] {
            let writes = writes.as_mut().unwrap();
            writes.dirty_at_end_bytes = Fact::Known(writes.completed_bytes / 5);
            writes.durable_bytes_per_s = Fact::Known(8e8);
        }
        let found = concluded(&ledger);
        assert!(found.text.contains("not usable") || found.text.contains("durable"), "{found:?}");
        ledger.jobs[0].latency.ios = 0;
        assert_eq!(conclude(&ledger), None);
    }
}
