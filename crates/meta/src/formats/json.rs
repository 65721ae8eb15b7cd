//! For programs: every figure, unrounded.

use crate::arguments::VisitOrder;
use crate::result::{MetaResult, PhaseResult, RateSummary};
use crate::watch::DiskRequests;
use serde_json::{Value, json};

/// `docs/meta.md` has the keys.
pub fn write(result: &MetaResult) -> String {
    let rounds: Vec<Vec<Value>> =
        result.rounds.iter().map(|phases| phases.iter().map(phase).collect()).collect();
    let rates = result.by_phase().into_iter().map(|(operation, results)| {
        let rates: Vec<f64> = results.iter().map(|result| result.rate()).collect();
        let summary = RateSummary::of(&rates);
        let value = json!({
            "rounds": rates.len(),
            "mean": summary.mean,
            "min": summary.least,
            "max": summary.most,
            "stddev": summary.deviation,
        });
        (operation.word().to_owned(), value)
    });
    let document = json!({
        "report": "meta",
        "schema": 1,
        "file_system": result.file_system,
        "disks": result.disks,
        "files": result.options.files,
        "dirs": result.options.dirs,
        "depth": result.options.depth,
        "bytes": result.options.bytes(),
        "threads": result.options.threads,
        "shared": result.options.shared,
        "order": if result.options.order == VisitOrder::Random { "random" } else { "sequential" },
        "cold": result.options.cold,
        "fsync": result.options.fsync,
        "stopped": result.stopped,
        "error": result.error,
        "ops_per_s": rates.collect::<serde_json::Map<String, Value>>(),
        "rounds": rounds,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn phase(phase: &PhaseResult) -> Value {
    let percentile = |percent| phase.latency.percentile(percent);
    json!({
        "phase": phase.operation.word(),
        "operations": phase.operations,
        "threads": phase.threads,
        "first_done_ns": phase.first_done.0,
        "last_done_ns": phase.last_done.0,
        "ops_per_s": phase.rate(),
        "sync_ns": phase.synced.map(|synced| synced.0),
        "synced_ops_per_s": phase.durable_rate(),
        "latency_ns": {
            "p50": percentile(50.0),
            "p90": percentile(90.0),
            "p99": percentile(99.0),
            "p99.9": percentile(99.9),
            "max": phase.longest.0,
        },
        "storage_read_bytes": phase.fetched,
        "disk": phase.during.map(requests),
        "disk_in_sync": phase.after.map(requests),
        "dentries": phase.dentries.map(|(before, after)| json!({"before": before, "after": after})),
    })
}

fn requests(requests: DiskRequests) -> Value {
    json!({
        "reads": requests.reads,
        "writes": requests.writes,
        "written_bytes": requests.written,
        "flushes": requests.flushes,
    })
}
