//! The run over time: the jobs' counters, looked at between ticks.
//!
//! Only the conductor looks, and only at what any thread may read: the loop
//! does not know of it.

use super::windows::SystemWindows;
use crate::control::Shared;
use crate::job::{JobPlan, Plan};
use iosonde_base::{DIRS, PerDir};
use iosonde_report::series::{
    JOB_WINDOWS_MOST, JOBS_MOST, JobSeries, RunSeries, SeriesWindow, WINDOWS_MOST, WindowCounts,
};
use iosonde_stats::{CoarseCounts, Lane};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Windows of a short run ...
const SHORT: Duration = Duration::from_millis(200);
/// ... and of one that is longer than this, or has hundreds of jobs.
const LONG: Duration = Duration::from_secs(1);
const SHORT_RUN_MOST: Duration = Duration::from_secs(60);

/// Looks at the counters of all jobs again and again.
pub(super) struct SeriesWatcher {
    every: Duration,
    due: Instant,
    /// What was counted when it last looked; none yet in a wave that has begun.
    counted: Option<PerDir<WindowCounts>>,
    windows: Vec<SeriesWindow>,
    /// Of each job, bytes when it last looked.
    job_counted: Vec<u64>,
    /// Of each job, if there are few, bytes of each window.
    job_bytes: Vec<Vec<u64>>,
    /// How many windows make one of a job's own.
    job_together: usize,
    system: SystemWindows,
}

impl Default for SeriesWatcher {
    fn default() -> SeriesWatcher {
        SeriesWatcher {
            every: SHORT,
            due: Instant::now() + SHORT,
            counted: None,
            windows: Vec::new(),
            job_counted: Vec::new(),
            job_bytes: Vec::new(),
            job_together: 1,
            system: SystemWindows::default(),
        }
    }
}

impl SeriesWatcher {
    /// For a plan of which nothing has begun.
    pub fn new(plan: &Plan) -> SeriesWatcher {
        let jobs = plan.jobs.len();
        let ends = |job: &JobPlan| Some(job.time.runtime?.0.saturating_add(job.time.ramp.0));
        let end_ns = plan.jobs.iter().filter_map(ends).max();
        let is_long = end_ns.is_some_and(|ns| Duration::from_nanos(ns) > SHORT_RUN_MOST);
        let every = if is_long || jobs > JOBS_MOST { LONG } else { SHORT };
        let own = if jobs <= JOBS_MOST { jobs } else { 0 };
        let buffered = |job: &JobPlan| job.fill.writes && !job.open.mode.direct;
        SeriesWatcher {
            every,
            job_counted: vec![0; jobs],
            job_bytes: vec![Vec::new(); own],
            system: SystemWindows::new(plan.jobs.iter().any(buffered)),
            ..SeriesWatcher::default()
        }
    }

    /// When it wants to look again.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// A wave begins: time between waves is nobody's. `devices` are those directly
    /// below the files.
    pub fn begin(&mut self, devices: Vec<String>) {
        self.system.begin(devices);
        self.due = Instant::now() + self.every;
    }

    /// Look, if it is time.
    pub fn look(&mut self, shared: &[Arc<Shared>]) {
        let now = Instant::now();
        if now < self.due {
            return;
        }
        let is_late = now >= self.due + self.every;
        self.due = if is_late { now + self.every } else { self.due + self.every };
        let (all, job_bytes, was_cleared) = self.read(shared);
        let before = self.counted.replace(all.clone());
        let system = self.system.end_window();
        if was_cleared {
            // The end of a ramp: what was counted before does not belong to the run.
            self.windows.clear();
            self.job_bytes.iter_mut().for_each(Vec::clear);
            self.job_together = 1;
            return;
        }
        let before = before.unwrap_or_default();
        let window = SeriesWindow {
            // Of more time than the others it would look like a peak.
            sampled: !is_late,
            dirs: PerDir(DIRS.map(|dir| since(&all[dir], &before[dir]))),
            dirty_bytes: system.dirty_bytes,
            device: system.device,
            steal_share: system.steal_share,
        };
        self.windows.push(window);
        self.push_job_bytes(&job_bytes);
        if self.windows.len() >= WINDOWS_MOST {
            self.windows =
                RunSeries { windows: std::mem::take(&mut self.windows), ..RunSeries::default() }
                    .in_at_most(WINDOWS_MOST / 2)
                    .windows;
            self.every *= 2;
            self.job_together = (self.job_together / 2).max(1);
        }
    }

    /// What all jobs have counted, the bytes of each since the last look, and
    /// whether a job has begun anew since.
    fn read(&mut self, shared: &[Arc<Shared>]) -> (PerDir<WindowCounts>, Vec<u64>, bool) {
        let mut all: PerDir<WindowCounts> = PerDir::default();
        let mut was_cleared = false;
        let mut each = Vec::with_capacity(shared.len());
        for (shared, last) in shared.iter().zip(&mut self.job_counted) {
            let mut bytes = 0;
            for dir in DIRS {
                let lane = shared.counters.lane(dir);
                let (sum, moved) = (&mut all[dir], lane.bytes.get());
                bytes += moved;
                sum.bytes += moved;
                sum.ios += lane.ios.get();
                sum.errors += lane.errors.get();
                add_latency(lane, &mut sum.latency);
            }
            was_cleared |= bytes < *last;
            each.push(bytes.saturating_sub(*last));
            *last = bytes;
        }
        (all, each, was_cleared)
    }

    /// The bytes of each job in this window, if the jobs are few.
    fn push_job_bytes(&mut self, bytes: &[u64]) {
        let at = self.windows.len() - 1;
        let begins = at.is_multiple_of(self.job_together);
        for (series, &bytes) in self.job_bytes.iter_mut().zip(bytes) {
            match series.last_mut() {
                Some(last) if !begins => *last += bytes,
                _ => series.push(bytes),
            }
        }
        let is_full = self.job_bytes.first().is_some_and(|one| one.len() > JOB_WINDOWS_MOST);
        if is_full {
            for series in &mut self.job_bytes {
                *series = series.chunks(2).map(|pair| pair.iter().sum()).collect();
            }
            self.job_together *= 2;
        }
    }

    /// What was seen.
    pub fn finish(self, plan: &Plan) -> RunSeries {
        let interval_ns = self.every.as_nanos() as u64;
        let whole = self.windows.len() / self.job_together;
        let job = |(job, mut bytes): (&JobPlan, Vec<u64>)| {
            // The last may be of fewer windows than the others.
            bytes.truncate(whole);
            let interval_ns = interval_ns.saturating_mul(self.job_together as u64);
            JobSeries { name: job.name.clone(), interval_ns, bytes }
        };
        let jobs = plan.jobs.iter().zip(self.job_bytes).map(job).collect();
        RunSeries { interval_ns, windows: self.windows, jobs }
    }
}

/// What was counted since.
fn since(now: &WindowCounts, before: &WindowCounts) -> WindowCounts {
    WindowCounts {
        bytes: now.bytes.saturating_sub(before.bytes),
        ios: now.ios.saturating_sub(before.ios),
        errors: now.errors.saturating_sub(before.errors),
        latency: now.latency.since(&before.latency),
    }
}

/// The latency that reports show.
fn add_latency(lane: &Lane, sum: &mut CoarseCounts) {
    if let Some((histogram, moments)) = lane.shown_latency()
        && moments.n > 0
    {
        histogram.add_coarse(moments.least(), moments.max, sum);
    }
}
