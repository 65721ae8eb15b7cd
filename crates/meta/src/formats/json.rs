//! For programs: every figure, unrounded; `docs/meta.md` has the keys.

use crate::result::{MetaResult, PhaseResult, RankShare, RateSummary};
use crate::values::VisitOrder;
use crate::watch::DiskRequests;
use iosonde_command::document::{self, Members};
use serde::Serialize;

#[derive(Serialize)]
struct MetaDocument<'a> {
    report: &'static str,
    schema: u32,
    file_system: &'a Option<String>,
    disks: &'a [String],
    files: u64,
    dirs: u64,
    depth: u32,
    bytes: u64,
    threads: u32,
    shared: bool,
    order: &'static str,
    cold: bool,
    fsync: bool,
    direct: bool,
    verify: bool,
    limit_s: Option<f64>,
    stopped: bool,
    error: &'a Option<String>,
    ops_per_s: Members<RatesDocument>,
    rounds: Vec<Vec<PhaseDocument<'a>>>,
}

/// Rates of a phase over all rounds.
#[derive(Serialize)]
struct RatesDocument {
    rounds: usize,
    #[serde(flatten)]
    summary: RateSummary,
}

#[derive(Serialize)]
struct PhaseDocument<'a> {
    phase: String,
    /// It was ended before all was done.
    partial: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<FoundDocument>,
    operations: u64,
    threads: usize,
    first_done_ns: u64,
    last_done_ns: u64,
    ops_per_s: f64,
    sync_ns: Option<u64>,
    synced_ops_per_s: Option<f64>,
    latency_ns: LatencyDocument,
    storage_read_bytes: Option<u64>,
    disk: Option<DiskRequests>,
    disk_in_sync: Option<DiskRequests>,
    dentries: Option<DentriesDocument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranks: Vec<RankDocument<'a>>,
}

/// What `find` saw.
#[derive(Serialize)]
struct FoundDocument {
    examined: u64,
    matched: u64,
}

/// A rank, in time since the first rank's start of the phase.
#[derive(Serialize)]
struct RankDocument<'a> {
    host: &'a str,
    operations: u64,
    ops_per_s: f64,
    began_ns: u64,
    first_done_ns: u64,
    last_done_ns: u64,
}

#[derive(Serialize)]
struct LatencyDocument {
    p50: u64,
    p90: u64,
    p99: u64,
    #[serde(rename = "p99.9")]
    p99_9: u64,
    max: u64,
}

#[derive(Serialize)]
struct DentriesDocument {
    before: u64,
    after: u64,
}

/// The document as text.
pub fn write(result: &MetaResult) -> String {
    let options = &result.options;
    let rates = result.by_row().into_iter().map(|(row, results)| {
        let rates: Vec<f64> = results.iter().map(|result| result.rate()).collect();
        let summary = RateSummary::of(&rates);
        (row.text(), RatesDocument { rounds: rates.len(), summary })
    });
    document::text(&MetaDocument {
        report: "meta",
        schema: 1,
        file_system: &result.file_system,
        disks: &result.disks,
        files: options.files,
        dirs: options.dirs,
        depth: options.depth,
        bytes: options.bytes(),
        threads: options.threads,
        shared: options.shared,
        order: if options.order == VisitOrder::Random { "random" } else { "sequential" },
        cold: options.cold,
        fsync: options.fsync,
        direct: options.direct,
        verify: options.verify,
        limit_s: options.limit.map(|limit| limit.as_secs_f64()),
        stopped: result.stopped,
        error: &result.error,
        ops_per_s: Members(rates.collect()),
        rounds: result.rounds.iter().map(|phases| phases.iter().map(phase).collect()).collect(),
    })
}

fn phase(phase: &PhaseResult) -> PhaseDocument<'_> {
    let percentile = |percent| phase.latency.percentile(percent);
    PhaseDocument {
        phase: phase.row.text(),
        partial: phase.partial,
        found: phase.found.map(|(examined, matched)| FoundDocument { examined, matched }),
        operations: phase.operations,
        threads: phase.threads,
        first_done_ns: phase.first_done.0,
        last_done_ns: phase.last_done.0,
        ops_per_s: phase.rate(),
        sync_ns: phase.synced.map(|synced| synced.0),
        synced_ops_per_s: phase.durable_rate(),
        latency_ns: LatencyDocument {
            p50: percentile(50.0),
            p90: percentile(90.0),
            p99: percentile(99.0),
            p99_9: percentile(99.9),
            max: phase.longest.0,
        },
        storage_read_bytes: phase.fetched,
        disk: phase.during,
        disk_in_sync: phase.after,
        dentries: phase.dentries.map(|(before, after)| DentriesDocument { before, after }),
        ranks: phase.ranks.iter().map(rank).collect(),
    }
}

fn rank(rank: &RankShare) -> RankDocument<'_> {
    RankDocument {
        host: &rank.name,
        operations: rank.operations,
        ops_per_s: rank.rate(),
        began_ns: rank.began.0,
        first_done_ns: rank.first_done.0,
        last_done_ns: rank.last_done.0,
    }
}
