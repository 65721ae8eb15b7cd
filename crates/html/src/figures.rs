//! Figures of a run that several charts and tables use.

use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_report::ledger::Ledger;
use iosonde_report::series::RunSeries;
use iosonde_report::{DirReport, JobReport, LatencyReport, Report};
use std::collections::BTreeMap;

/// A direction of all jobs together.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirTotal {
    pub bytes: u64,
    pub ios: u64,
    pub runtime_ms: u64,
    /// All latencies together; without bins where a job has none.
    pub latency: LatencyReport,
}

impl DirTotal {
    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 * 1000.0 / self.runtime_ms.max(1) as f64
    }

    /// I/Os per second.
    pub fn iops(&self) -> f64 {
        self.ios as f64 * 1000.0 / self.runtime_ms.max(1) as f64
    }
}

/// A latency with its name and style in charts.
#[derive(Clone, Debug)]
pub(crate) struct NamedLatency {
    pub name: String,
    pub class: &'static str,
    pub latency: LatencyReport,
}

/// The class of a direction in charts.
pub(crate) fn class(dir: Dir) -> &'static str {
    match dir {
        Dir::Read => "read",
        Dir::Write => "write",
        Dir::Trim => "trim",
    }
}

/// The sums over all jobs, for each direction that did any I/O.
pub(crate) fn totals(report: &Report) -> Vec<(&'static str, DirTotal)> {
    let mut all: Vec<(&'static str, Vec<&DirReport>)> = Vec::new();
    for (name, dir) in report.jobs.iter().flat_map(JobReport::shown) {
        match all.iter_mut().find(|(known, _)| *known == name) {
            _ if dir.issued_ios == 0 => {}
            Some((_, dirs)) => dirs.push(dir),
            None => all.push((name, vec![dir])),
        }
    }
    all.into_iter().map(|(name, dirs)| (name, total(&dirs))).collect()
}

fn total(dirs: &[&DirReport]) -> DirTotal {
    let latencies: Vec<&LatencyReport> = dirs.iter().map(|dir| dir.shown_latency()).collect();
    DirTotal {
        bytes: dirs.iter().map(|dir| dir.io_bytes).sum(),
        ios: dirs.iter().map(|dir| dir.total_ios).sum(),
        // Jobs run side by side, or their sum means nothing.
        runtime_ms: dirs.iter().map(|dir| dir.runtime_ms).max().unwrap_or(0),
        latency: merged(&latencies),
    }
}

/// Several latencies as one: counts and bins added up. Percentiles come from
/// the bins; of one latency alone also from what was reported.
pub(crate) fn merged(all: &[&LatencyReport]) -> LatencyReport {
    let some: Vec<&&LatencyReport> = all.iter().filter(|latency| latency.n > 0).collect();
    if let [one] = some[..] {
        return (*one).clone();
    }
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    let has_bins = some.iter().all(|latency| !latency.bins.is_empty());
    for (ns, count) in some.iter().filter(|_| has_bins).flat_map(|latency| &latency.bins) {
        *bins.entry(*ns).or_default() += count;
    }
    let n = some.iter().map(|latency| latency.n).sum::<u64>();
    let sum = some.iter().map(|latency| latency.mean_ns * latency.n as f64).sum::<f64>();
    LatencyReport {
        n,
        min_ns: some.iter().map(|latency| latency.min_ns).min().unwrap_or(0),
        max_ns: some.iter().map(|latency| latency.max_ns).max().unwrap_or(0),
        mean_ns: if n > 0 { sum / n as f64 } else { 0.0 },
        bins: bins.into_iter().collect(),
        ..LatencyReport::default()
    }
}

/// The latencies of some jobs by kind: each direction, from when it was due,
/// syncs.
pub(crate) fn latencies(report: &Report, jobs: &[&JobReport]) -> Vec<NamedLatency> {
    let mut named = Vec::new();
    let mut push = |name: String, class: &'static str, all: &[&LatencyReport]| {
        let latency = merged(all);
        if latency.n > 0 {
            named.push(NamedLatency { name, class, latency });
        }
    };
    for dir in DIRS {
        let all: Vec<&LatencyReport> =
            jobs.iter().map(|job| job.dirs[dir].shown_latency()).collect();
        push(dir.name().to_owned(), class(dir), &all);
    }
    let mixed = |job: &&JobReport| job.dirs.0.iter().all(|dir| dir.shown_latency().n == 0);
    let all: Vec<&LatencyReport> = jobs
        .iter()
        .filter(|job| mixed(job))
        .filter_map(|job| Some(job.mixed.as_ref()?.shown_latency()))
        .collect();
    push("mixed".to_owned(), "read", &all);
    for dir in DIRS {
        let ours = report.ours.jobs.iter().zip(&report.jobs);
        let ours = ours.filter(|(_, job)| jobs.iter().any(|known| std::ptr::eq(*known, *job)));
        let all: Vec<&LatencyReport> =
            ours.filter_map(|(ours, _)| ours.response[dir].as_ref()).collect();
        push(format!("{}, from due time", dir.name()), "response", &all);
    }
    let all: Vec<&LatencyReport> = jobs.iter().map(|job| &job.sync.lat).collect();
    push("sync".to_owned(), "sync", &all);
    named
}

/// The ledger, if the run was looked at.
pub(crate) fn ledger(report: &Report) -> Option<&Ledger> {
    report.ours.ledger.as_deref()
}

/// The series, if there is one with windows.
pub(crate) fn series(report: &Report) -> Option<&RunSeries> {
    ledger(report).map(|ledger| &ledger.series).filter(|series| !series.windows.is_empty())
}

/// The directions that a series has bytes of.
pub(crate) fn active(series: &RunSeries) -> Vec<Dir> {
    let mut sums: PerDir<u64> = PerDir::default();
    for window in &series.windows {
        DIRS.into_iter().for_each(|dir| sums[dir] += window.dirs[dir].ios);
    }
    DIRS.into_iter().filter(|&dir| sums[dir] > 0).collect()
}
