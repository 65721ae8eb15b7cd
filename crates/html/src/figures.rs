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
    let mut all: Vec<(&'static str, Vec<TimedDir>)> = Vec::new();
    for (index, job) in report.jobs.iter().enumerate() {
        for (name, dir) in job.shown().into_iter().filter(|(_, dir)| dir.issued_ios > 0) {
            let one = TimedDir { dir, start_ms: start_ms(report, index) };
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, dirs)) => dirs.push(one),
                None => all.push((name, vec![one])),
            }
        }
    }
    all.into_iter().map(|(name, dirs)| (name, total(&dirs))).collect()
}

/// A direction of a job, and when the job began to run.
struct TimedDir<'a> {
    dir: &'a DirReport,
    start_ms: u64,
}

/// When a job began to run, after the first of the run: 0 where that is not known.
fn start_ms(report: &Report, index: usize) -> u64 {
    let is_alike = report.ours.jobs.len() == report.jobs.len();
    let job = report.ours.jobs.get(index).filter(|_| is_alike);
    let run = job.and_then(|job| job.phases.iter().find(|phase| phase.name == "run"));
    run.and_then(|phase| phase.start_ns).unwrap_or(0) / 1_000_000
}

/// How long at least one of them ran: jobs that wait for others do not run in their time.
fn together_ms(all: &[TimedDir<'_>]) -> u64 {
    let mut spans: Vec<(u64, u64)> =
        all.iter().map(|one| (one.start_ms, one.start_ms + one.dir.runtime_ms)).collect();
    iosonde_base::sort(&mut spans);
    let (mut sum, mut end) = (0, 0);
    for (start, stop) in spans {
        sum += stop.saturating_sub(start.max(end));
        end = end.max(stop);
    }
    // Jobs of one wave start a few milliseconds apart.
    let longest = all.iter().map(|one| one.dir.runtime_ms).max().unwrap_or(0);
    if sum <= longest + longest / 10 { longest } else { sum }
}

fn total(all: &[TimedDir<'_>]) -> DirTotal {
    let dirs: Vec<&DirReport> = all.iter().map(|one| one.dir).collect();
    let latencies: Vec<&LatencyReport> = dirs.iter().map(|dir| dir.shown_latency()).collect();
    DirTotal {
        bytes: dirs.iter().map(|dir| dir.io_bytes).sum(),
        ios: dirs.iter().map(|dir| dir.total_ios).sum(),
        runtime_ms: together_ms(all),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_wait_for_others_do_not_run_in_their_time() {
        let dir = DirReport { runtime_ms: 2000, ..DirReport::default() };
        let of = |starts: &[u64]| {
            let timed = |&start_ms: &u64| TimedDir { dir: &dir, start_ms };
            together_ms(&starts.iter().map(timed).collect::<Vec<_>>())
        };
        assert_eq!(
            (of(&[0]), of(&[0, 3]), of(&[0, 2000]), of(&[0, 1000])),
            (2000, 2000, 4000, 3000)
        );
    }
}
