//! Reads the counters of a run again and again, and says what happened since.

use super::dirty::{DirtyBytes, is_buffered_writer};
use super::findings::{LiveFacts, findings};
use super::latencies::{LaneWindow, WindowLatencies};
use super::share::progress;
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_report::live::metrics::labels;
use iosonde_report::live::screen::{
    FINISHED, LiveFinding, LiveJob, LivePlaces, LiveRate, LiveRun, LiveWindow,
};
use iosonde_run::account::disks::WatchedDisks;
use iosonde_run::conductor::RunView;
use iosonde_run::job::{FileKind, Plan};
use iosonde_run::worker::JobStage;
use iosonde_stats::Lane;
use iosonde_sys::counters::{CpuTime, DiskCounters, TaskIo, Usage};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Figures are of so long; a little less, so that ticks at twice a second need
/// not be exact.
const SECOND: Duration = Duration::from_millis(950);
/// Windows that are kept: after ten minutes the oldest goes.
const WINDOWS_MOST: usize = 600;
/// Findings are looked for so often.
const FINDINGS_EVERY: Duration = Duration::from_secs(2);

/// Samples of a run.
pub struct LiveSampler {
    plan: Arc<Plan>,
    view: RunView,
    disks: WatchedDisks,
    title: String,
    target: String,
    names: Vec<String>,
    /// Totals of the last second, oldest first.
    past: VecDeque<Arc<LiveTotals>>,
    /// Totals at the end of the last window.
    closed: Option<Arc<LiveTotals>>,
    windows: Vec<Arc<LiveWindow>>,
    latencies: WindowLatencies,
    /// When counting began.
    base: SampleBase,
    dirty: DirtyBytes,
    findings: Vec<LiveFinding>,
    findings_due: Instant,
}

/// Counters of the system when counting began.
struct SampleBase {
    at: Instant,
    process: Option<TaskIo>,
    cpu: Option<CpuTime>,
    disks: Vec<(String, DiskCounters)>,
}

/// What was counted up to a moment.
struct LiveTotals {
    at: Instant,
    /// Read, write, trim, sync.
    lanes: [LaneTotals; 4],
    /// Of each job, I/Os and bytes.
    jobs: Vec<(u64, u64)>,
    queue_ms: u64,
    usage: Option<Usage>,
}

#[derive(Default)]
struct LaneTotals {
    ios: u64,
    bytes: u64,
    errors: u64,
}

impl LaneTotals {
    fn add(&mut self, lane: &Lane) {
        self.ios += lane.ios.get();
        self.bytes += lane.bytes.get();
        self.errors += lane.errors.get();
    }
}

impl SampleBase {
    fn now(disks: &WatchedDisks) -> SampleBase {
        SampleBase {
            at: Instant::now(),
            process: TaskIo::of_process().ok(),
            cpu: CpuTime::now().ok(),
            disks: disks.counters(),
        }
    }
}

impl LiveSampler {
    /// Of a run that begins.
    pub fn new(plan: &Arc<Plan>, view: &RunView) -> LiveSampler {
        let disks = WatchedDisks::under(plan);
        let names: Vec<&str> = plan.jobs.iter().map(|job| job.name.as_str()).collect();
        LiveSampler {
            title: title(plan),
            target: target(plan, &disks),
            names: labels(&names),
            past: VecDeque::new(),
            closed: None,
            windows: Vec::new(),
            latencies: WindowLatencies::new(),
            base: SampleBase::now(&disks),
            dirty: DirtyBytes::new(plan.jobs.len()),
            findings: Vec::new(),
            findings_due: Instant::now() + FINDINGS_EVERY,
            disks,
            view: view.clone(),
            plan: plan.clone(),
        }
    }

    /// The run now.
    pub fn sample(&mut self) -> LiveRun {
        let now = Arc::new(self.totals());
        if self.past.back().is_some_and(|last| began_anew(last, &now)) {
            self.past.clear();
            self.windows.clear();
            self.closed = None;
            self.latencies = WindowLatencies::new();
            self.base = SampleBase::now(&self.disks);
        }
        self.past.push_back(now.clone());
        while self.past.get(1).is_some_and(|next| now.at - next.at >= SECOND) {
            self.past.pop_front();
        }
        let before = self.past[0].clone();
        self.latencies.look(&self.view, self.plan.jobs.len());
        self.close_window(&now);
        self.dirty.look(&self.plan);
        self.run(&before, &now)
    }

    fn totals(&self) -> LiveTotals {
        let mut totals = LiveTotals {
            at: Instant::now(),
            lanes: Default::default(),
            jobs: Vec::with_capacity(self.plan.jobs.len()),
            queue_ms: self.disks.counters().iter().map(|(_, disk)| disk.queue_ms).sum(),
            usage: Usage::of_process().ok(),
        };
        for job in 0..self.plan.jobs.len() {
            let counters = self.view.counters(job);
            let (mut ios, mut bytes) = (0, 0);
            for (lane, sum) in counters.lanes.iter().chain([&counters.sync]).zip(&mut totals.lanes)
            {
                sum.add(lane);
            }
            for lane in &counters.lanes {
                ios += lane.ios.get();
                bytes += lane.bytes.get();
            }
            totals.jobs.push((ios, bytes));
        }
        totals
    }

    /// End a window of the series, if it has lasted for a second.
    fn close_window(&mut self, now: &Arc<LiveTotals>) {
        let Some(before) = &self.closed else { return self.closed = Some(now.clone()) };
        let seconds = (now.at - before.at).as_secs_f64();
        if seconds < SECOND.as_secs_f64() {
            return;
        }
        let mut window = LiveWindow::default();
        for (now, before) in now.lanes.iter().zip(&before.lanes).take(3) {
            window.bytes_per_s += now.bytes.saturating_sub(before.bytes) as f64 / seconds;
        }
        if self.windows.len() == WINDOWS_MOST {
            self.windows.remove(0);
        }
        window.latency = self.latencies.all.clone();
        window.p99_ns = window.latency.percentile(99.0);
        self.windows.push(Arc::new(window));
        self.closed = Some(now.clone());
    }

    fn run(&mut self, before: &LiveTotals, now: &LiveTotals) -> LiveRun {
        let seconds = (now.at - before.at).as_secs_f64().max(1e-3);
        let snapshots = self.view.snapshots();
        let elapsed = self.view.elapsed();
        let share = progress(&self.plan, &snapshots, elapsed);
        let is_running =
            |stage| matches!(stage, JobStage::Ramping | JobStage::Running | JobStage::Verifying);
        let jobs = self.names.iter().zip(now.jobs.iter().zip(&before.jobs)).zip(&snapshots);
        let jobs: Vec<LiveJob> = jobs
            .map(|((name, (now, before)), snapshot)| LiveJob {
                name: name.clone(),
                iops: now.0.saturating_sub(before.0) as f64 / seconds,
                bytes_per_s: now.1.saturating_sub(before.1) as f64 / seconds,
                is_running: is_running(snapshot.state),
                has_failed: snapshot.has_failed,
            })
            .collect();
        let jobs_running = jobs.iter().filter(|job| job.is_running).count();
        let lanes = self.latencies.lanes.clone();
        let rate = |at: usize| rate(&now.lanes[at], &before.lanes[at], &lanes[at], seconds);
        let syncs = now.lanes[3].ios > 0;
        let places = self.places(now);
        self.find(now, &places, jobs_running);
        let used = |dir: Dir| self.plan.jobs.iter().any(|job| job.dirs[dir]);
        LiveRun {
            title: self.title.clone(),
            target: self.target.clone(),
            phase: phase(snapshots.iter().map(|snapshot| snapshot.state)),
            elapsed_s: elapsed.millis() / 1000,
            done: share.map(|(done, _)| done),
            left_s: share.map(|(_, left)| left),
            dirs: PerDir(DIRS.map(|dir| {
                (used(dir) || now.lanes[dir as usize].ios > 0).then(|| rate(dir as usize))
            })),
            syncs: syncs.then(|| rate(3)),
            windows: self.windows.clone(),
            depth_requested: self
                .depth_requested(&snapshots.iter().map(|s| s.state).collect::<Vec<_>>()),
            depth_observed: self.latencies.depth,
            depth_at_device: (!places.devices.is_empty())
                .then(|| now.queue_ms.saturating_sub(before.queue_ms) as f64 / 1000.0 / seconds),
            cpu: cpu(now, before, seconds),
            findings: self.findings.clone(),
            jobs,
            jobs_running,
            places,
        }
    }

    fn depth_requested(&self, stages: &[JobStage]) -> u64 {
        let jobs = self.plan.jobs.iter().zip(stages);
        let running = jobs.filter(|(_, stage)| **stage != JobStage::Finished);
        running.map(|(job, _)| u64::from(job.window.depth)).sum()
    }

    fn places(&self, now: &LiveTotals) -> LivePlaces {
        let read = now.lanes[Dir::Read as usize].bytes;
        let on_storage = |job: &iosonde_run::job::JobPlan| {
            !job.engine.caps.diskless
                && !job.engine.caps.no_io
                && job.files.iter().any(|file| file.kind != FileKind::None)
        };
        let fetched =
            self.base.process.zip(TaskIo::of_process().ok()).map(|(before, now)| {
                now.storage_read_bytes.saturating_sub(before.storage_read_bytes)
            });
        let reads_from_memory = fetched
            .filter(|_| read > 0 && self.plan.jobs.iter().all(on_storage))
            .map(|fetched| 1.0 - (fetched as f64 / read as f64).min(1.0));
        let buffered = self.plan.jobs.iter().any(is_buffered_writer);
        let devices = self.disks.counters().into_iter().map(|(name, now)| {
            let before = self.base.disks.iter().find(|(known, _)| *known == name);
            let used = before.map_or(now, |(_, before)| now.since(before));
            (name, [used.read_sectors * 512, used.write_sectors * 512])
        });
        LivePlaces {
            reads_from_memory,
            only_in_memory: self.dirty.total.filter(|_| buffered),
            written: now.lanes[Dir::Write as usize].bytes,
            devices: devices.collect(),
        }
    }

    /// Look for findings, if it is time.
    fn find(&mut self, now: &LiveTotals, places: &LivePlaces, jobs_running: usize) {
        if now.at < self.findings_due {
            return;
        }
        self.findings_due = now.at + FINDINGS_EVERY;
        let elapsed = now.at - self.base.at;
        let queue_ms = self.disks.counters().into_iter().zip(&self.base.disks);
        let queue_ms: u64 = queue_ms.map(|((_, now), (_, then))| now.since(then).queue_ms).sum();
        let facts = LiveFacts {
            elapsed,
            read_bytes: now.lanes[Dir::Read as usize].bytes,
            ios: now.lanes[..3].iter().map(|lane| lane.ios).sum(),
            reads_from_memory: places.reads_from_memory,
            depth_at_device: (!places.devices.is_empty())
                .then(|| queue_ms as f64 / 1e3 / elapsed.as_secs_f64().max(1e-3)),
            cpu: self.base.cpu.zip(CpuTime::now().ok()).map(|(then, now)| now.since(&then)),
            rates: self.windows.iter().map(|window| window.bytes_per_s).collect(),
            all_run: jobs_running == self.plan.jobs.len(),
        };
        self.findings = findings(&self.plan, &facts);
    }
}

/// Whether the counts began anew: a ramp has ended.
fn began_anew(last: &LiveTotals, now: &LiveTotals) -> bool {
    last.jobs.iter().zip(&now.jobs).any(|(last, now)| now.0 < last.0)
}

fn rate(now: &LaneTotals, before: &LaneTotals, window: &LaneWindow, seconds: f64) -> LiveRate {
    LiveRate {
        iops: now.ios.saturating_sub(before.ios) as f64 / seconds,
        bytes_per_s: now.bytes.saturating_sub(before.bytes) as f64 / seconds,
        percentiles_ns: window.percentiles_ns,
        max_ns: window.max_ns,
        errors: now.errors,
    }
}

fn cpu(now: &LiveTotals, before: &LiveTotals, seconds: f64) -> Option<[f64; 2]> {
    let used = now.usage.as_ref()?.since(before.usage.as_ref()?);
    Some([used.user_ns, used.system_ns].map(|ns| ns as f64 / 1e9 / seconds))
}

fn phase(stages: impl Iterator<Item = JobStage>) -> &'static str {
    let stages: Vec<JobStage> = stages.collect();
    let any = |stage| stages.contains(&stage);
    match () {
        () if any(JobStage::Running) => "run",
        () if any(JobStage::Ramping) => "ramp",
        () if any(JobStage::Verifying) => "verify",
        () if any(JobStage::Syncing) => "sync",
        () if stages.iter().all(|&stage| stage == JobStage::Finished) => FINISHED,
        () => "prepare",
    }
}

/// What runs, in words.
fn title(plan: &Plan) -> String {
    let first = &plan.jobs[0];
    let sections = plan.jobs.iter().map(|job| job.section).max().unwrap_or(0) + 1;
    let more = match sections - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{}: {}{more}", first.name, first.reporting.what)
}

/// What it runs on: the first file, and the disks below all.
fn target(plan: &Plan, disks: &WatchedDisks) -> String {
    let file = plan.jobs[0].files.iter().find(|file| file.kind != FileKind::None);
    let Some(file) = file else { return "no storage".to_owned() };
    let names: Vec<String> = disks.counters().into_iter().map(|(name, _)| name).collect();
    let path = file.path.display().to_string();
    let shown: String = match path.chars().count() {
        ..=28 => path,
        long => format!("~{}", path.chars().skip(long - 27).collect::<String>()),
    };
    if names.is_empty() { shown } else { format!("{shown} ({})", names.join(", ")) }
}
