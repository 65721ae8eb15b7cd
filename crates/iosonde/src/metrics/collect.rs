//! The metrics of a run, read from its counters.

use crate::live::dirty::DirtyBytes;
use crate::live::share::progress;
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_report::Report;
use iosonde_report::fingerprint::Fingerprint;
use iosonde_report::live::metrics::{
    DeviceMetrics, DirMetrics, Durations, JOBS_MOST, JobMetrics, REST, RESULT_PERCENTILES,
    ResultMetrics, RunLabels, RunMetrics, RunState, labels,
};
use iosonde_run::account::disks::WatchedDisks;
use iosonde_run::conductor::RunView;
use iosonde_run::job::{JobPlan, Plan};
use iosonde_session::ReadyRun;
use iosonde_stats::{Counters, Histogram, Lane, MomentsSnapshot};
use iosonde_sys::environment::Machine;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Means of late are over at least this long.
const MEANS_OVER: Duration = Duration::from_secs(1);

/// Reads the counters of a run.
pub struct RunCollector {
    plan: Arc<Plan>,
    labels: Vec<String>,
    run: RunLabels,
    started_unix_s: f64,
    disks: WatchedDisks,
    view: OnceLock<RunView>,
    changing: Mutex<Changing>,
}

/// State that readings change.
struct Changing {
    state: RunState,
    result: Option<ResultMetrics>,
    dirty: DirtyBytes,
    /// When the means were taken last, and of what.
    taken: Option<(Instant, JobSums)>,
    means: Means,
}

/// Time that I/Os took, added up, in nanoseconds.
#[derive(Clone, Debug, Default)]
struct JobSums {
    jobs: Vec<Option<u128>>,
    devices: Vec<u128>,
}

/// Mean I/Os in flight.
#[derive(Clone, Debug, Default)]
struct Means {
    jobs: Vec<Option<f64>>,
    devices: Vec<f64>,
}

impl RunCollector {
    /// For a run that is about to begin.
    pub fn new(ready: &ReadyRun<'_>) -> RunCollector {
        let plan = &ready.plan;
        let names: Vec<&str> = plan.jobs.iter().map(|job| job.name.as_str()).collect();
        RunCollector {
            labels: labels(&names),
            run: run_labels(ready),
            started_unix_s: iosonde_base::time::unix_ms() as f64 / 1000.0,
            disks: WatchedDisks::under(plan),
            view: OnceLock::new(),
            changing: Mutex::new(Changing {
                state: RunState::Preparing,
                result: None,
                dirty: DirtyBytes::new(plan.jobs.len()),
                taken: None,
                means: Means::default(),
            }),
            plan: plan.clone(),
        }
    }

    /// The counters are these.
    pub fn attach(&self, view: &RunView) {
        // There is one run.
        let _ = self.view.set(view.clone());
    }

    /// The run is in this state now.
    pub fn enter(&self, state: RunState) {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner).state = state;
    }

    /// The run is done.
    pub fn finish(&self, report: &Report) {
        let result = self.result(report);
        let mut changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        changing.state = RunState::Done;
        changing.result = Some(result);
    }

    /// The metrics now.
    pub fn collect(&self) -> RunMetrics {
        let mut changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut metrics = RunMetrics {
            run: self.run.clone(),
            state: changing.state,
            started_unix_s: self.started_unix_s,
            result: changing.result.clone(),
            ..RunMetrics::default()
        };
        let Some(view) = self.view.get() else { return metrics };
        changing.dirty.look(&self.plan);
        self.take_means(view, &mut changing);
        let share = || progress(&self.plan, &view.snapshots(), view.elapsed());
        metrics.progress = match changing.state {
            RunState::Preparing => Some(0.0),
            RunState::Running => share().map(|(done, _)| done),
            RunState::Finishing | RunState::Done => Some(1.0),
        };
        for (at, job) in self.plan.jobs.iter().enumerate() {
            let one = JobMetrics {
                name: self.labels[at].clone(),
                only_in_memory_bytes: changing.dirty.by_job[at],
                depth_observed: changing.means.jobs.get(at).copied().flatten(),
                ..of_job(job, view.counters(at))
            };
            add(&mut metrics.jobs, at, one);
        }
        let devices = self.disks.counters().into_iter().enumerate();
        metrics.devices = devices
            .map(|(at, (name, used))| DeviceMetrics {
                name,
                bytes: [used.read_sectors, used.write_sectors, used.discard_sectors]
                    .map(|sectors| sectors * 512),
                flushes: used.flushes,
                depth: changing.means.devices.get(at).copied(),
            })
            .collect();
        metrics
    }

    /// Means since they were taken last, if that is long enough ago. By Little's
    /// law the mean number in flight is the time that I/Os took in a time.
    fn take_means(&self, view: &RunView, changing: &mut Changing) {
        let now = Instant::now();
        let is_due = |(at, _): &(Instant, JobSums)| now.duration_since(*at) >= MEANS_OVER;
        if !changing.taken.as_ref().is_none_or(is_due) {
            return;
        }
        let jobs = 0..self.plan.jobs.len();
        let devices = self.disks.counters();
        let sums = JobSums {
            jobs: jobs.map(|job| time_taken(view.counters(job))).collect(),
            devices: devices.iter().map(|(_, one)| u128::from(one.queue_ms) * 1_000_000).collect(),
        };
        if let Some((then, before)) = &changing.taken {
            let elapsed_ns = now.duration_since(*then).as_nanos().max(1) as f64;
            let mean = |now: u128, before: u128| now.saturating_sub(before) as f64 / elapsed_ns;
            let job =
                |(now, before): (&Option<u128>, &Option<u128>)| Some(mean((*now)?, (*before)?));
            let device = |(now, before): (&u128, &u128)| mean(*now, *before);
            changing.means = Means {
                jobs: sums.jobs.iter().zip(&before.jobs).map(job).collect(),
                devices: sums.devices.iter().zip(&before.devices).map(device).collect(),
            };
        }
        changing.taken = Some((now, sums));
    }

    fn result(&self, report: &Report) -> ResultMetrics {
        let ledger = report.ours.ledger.as_ref();
        let found = ledger.map_or(&[][..], |ledger| &ledger.verdict[..]);
        let mut findings: Vec<(String, String)> = Vec::new();
        for finding in found {
            let one = (finding.id.to_string(), finding.severity.word().to_owned());
            // Of one rule about several jobs.
            if !findings.contains(&one) {
                findings.push(one);
            }
        }
        let writes = ledger.and_then(|ledger| ledger.writes.as_ref());
        ResultMetrics {
            findings,
            durable_bytes_per_s: writes.and_then(|w| w.durable_bytes_per_s.get()),
            percentiles: self.view.get().map_or_else(Vec::new, |view| self.percentiles(view)),
        }
    }

    fn percentiles(&self, view: &RunView) -> Vec<(String, &'static str, &'static str, u64)> {
        let mut all = Vec::new();
        for (at, label) in self.labels.iter().enumerate().take(JOBS_MOST) {
            for dir in DIRS {
                let lane = view.counters(at).lane(dir);
                let Some((histogram, moments)) = lane.shown_latency() else { continue };
                if moments.n == 0 {
                    continue;
                }
                let snapshot = histogram.snapshot();
                for (name, percent) in RESULT_PERCENTILES {
                    // The largest is known, and not only its bucket.
                    let ns = snapshot.percentile(percent).min(moments.max);
                    let ns = if percent == 100.0 { moments.max } else { ns };
                    all.push((label.clone(), dir.name(), name, ns));
                }
            }
        }
        all
    }
}

/// Add a job to the others, or to the rest of them.
fn add(jobs: &mut Vec<JobMetrics>, at: usize, job: JobMetrics) {
    if at < JOBS_MOST {
        return jobs.push(job);
    }
    if at == JOBS_MOST {
        jobs.push(JobMetrics { name: REST.to_owned(), ..JobMetrics::default() });
    }
    jobs[JOBS_MOST].merge(&job);
}

fn of_job(job: &JobPlan, counters: &Counters) -> JobMetrics {
    let dir = |dir: Dir| {
        let lane = counters.lane(dir);
        (job.dirs[dir] || lane.ios.get() > 0).then(|| of_lane(lane))
    };
    let syncs = counters.sync.shown_latency();
    JobMetrics {
        dirs: PerDir(DIRS.map(dir)),
        syncs: syncs.map(|(kept, moments)| durations(kept, &moments)),
        depth_requested: job.window.depth.into(),
        ..JobMetrics::default()
    }
}

fn of_lane(lane: &Lane) -> DirMetrics {
    let response = lane.response_histogram.as_ref();
    DirMetrics {
        ios: lane.ios.get(),
        bytes: lane.bytes.get(),
        errors: lane.errors.get(),
        service: lane.shown_latency().map(|(kept, moments)| durations(kept, &moments)),
        response: response.map(|kept| durations(kept, &lane.response.snapshot())),
    }
}

fn durations(histogram: &Histogram, moments: &MomentsSnapshot) -> Durations {
    let mut durations = Durations { sum_ns: moments.sum, ..Durations::default() };
    histogram.add_octaves(&mut durations.counts);
    durations
}

/// The time that all I/Os of a job took, added up; `None` where it is not measured.
fn time_taken(counters: &Counters) -> Option<u128> {
    let taken = counters.lanes.iter().filter_map(|lane| Some(lane.shown_latency()?.1.sum));
    taken.reduce(|sum, lane| sum + lane)
}

fn run_labels(ready: &ReadyRun<'_>) -> RunLabels {
    let plan = &ready.plan;
    let engines = plan.jobs.iter().map(|job| job.engine.name.to_owned());
    let sizes = plan.jobs.iter().flat_map(|job| {
        let dirs = DIRS.into_iter().filter(|&dir| job.dirs[dir]);
        dirs.map(|dir| match job.reporting.sizes[dir] {
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least}-{most}"),
        })
    });
    RunLabels {
        tool: concat!("iosonde ", env!("CARGO_PKG_VERSION")).to_owned(),
        kernel: Machine::this().kernel,
        engine: each_once(engines),
        block_size: each_once(sizes),
        fingerprint: Fingerprint::hash(&ready.job_fingerprint()),
    }
}

fn each_once(words: impl Iterator<Item = String>) -> String {
    words.collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>().join(",")
}
