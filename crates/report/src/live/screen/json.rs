//! A run at one moment as JSON, for `--live=json`.

use super::{LiveRate, LiveRun};
use iosonde_base::DIRS;
use serde_json::{Map, Value, json};

/// The object of a moment. Nanoseconds and bytes; what is not known is `null`.
pub fn object(run: &LiveRun) -> Value {
    let dirs = DIRS.into_iter().filter_map(|dir| {
        let value = run.dirs[dir].as_ref().map(rate)?;
        Some((dir.name().to_owned(), value))
    });
    let mut rates: Map<String, Value> = dirs.collect();
    rates.extend(run.syncs.as_ref().map(|syncs| ("sync".to_owned(), rate(syncs))));
    let places = &run.places;
    let device = |(name, [read, written]): &(String, [u64; 2])| json!({ "name": name, "read_bytes": read, "written_bytes": written });
    let job = |job: &super::LiveJob| {
        json!({
            "name": job.name,
            "running": job.is_running,
            "failed": job.has_failed,
            "iops": job.iops,
            "bytes_per_s": job.bytes_per_s,
        })
    };
    let finding = |finding: &super::LiveFinding| {
        let severity = finding.severity.word();
        json!({ "id": finding.id, "severity": severity, "statement": finding.text })
    };
    json!({
        "elapsed_s": run.elapsed_s,
        "phase": run.phase,
        "done": run.done,
        "left_s": run.left_s,
        "last_second": rates,
        "reads_from_memory_share": places.reads_from_memory,
        "only_in_memory_bytes": places.only_in_memory,
        "devices": places.devices.iter().map(device).collect::<Vec<_>>(),
        "depth": {
            "requested": run.depth_requested,
            "observed": run.depth_observed,
            "at_device": run.depth_at_device,
        },
        "cpu": run.cpu.map(|[user, system]| json!({ "user": user, "system": system })),
        "findings": run.findings.iter().map(finding).collect::<Vec<_>>(),
        "jobs": run.jobs.iter().map(job).collect::<Vec<_>>(),
    })
}

fn rate(rate: &LiveRate) -> Value {
    let percentile = |at: usize| rate.percentiles_ns.map(|all| all[at]);
    json!({
        "iops": rate.iops,
        "bytes_per_s": rate.bytes_per_s,
        "p50_ns": percentile(0),
        "p99_ns": percentile(1),
        "p99_9_ns": percentile(2),
        "max_ns": rate.max_ns,
        "errors": rate.errors,
    })
}
