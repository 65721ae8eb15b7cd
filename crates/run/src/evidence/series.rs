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

/// Windows at first ...
const SHORT: Duration = Duration::from_millis(200);
/// ... and of a run of hundreds of jobs, which take long to look at.
const LONG: Duration = Duration::from_secs(1);

/// Windows that are kept, of the [`WINDOWS_MOST`] that a result may have. With the short ones
/// that is reached after 64 s: from then on a run takes no more memory for them.
const KEPT_MOST: usize = 320;
const _: () = assert!(KEPT_MOST <= WINDOWS_MOST);

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
        let every = if jobs > JOBS_MOST { LONG } else { SHORT };
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
        self.look_at(Instant::now(), shared);
    }

    fn look_at(&mut self, now: Instant, shared: &[Arc<Shared>]) {
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
        if self.windows.len() >= KEPT_MOST {
            self.windows =
                RunSeries { windows: std::mem::take(&mut self.windows), ..RunSeries::default() }
                    .in_at_most(KEPT_MOST / 2)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::WithOthers;
    use crate::plan::JobBuilder;
    use iosonde_base::Dir;
    use iosonde_stats::{CountersWriter, WhichLatencies};
    use iosonde_testing::Folder;

    /// What the windows take, all latencies of the same spread.
    fn bytes_of(watcher: &SeriesWatcher) -> usize {
        let latencies = |window: &SeriesWindow| {
            DIRS.map(|dir| size_of_val(window.dirs[dir].latency.parts().1))
                .into_iter()
                .sum::<usize>()
        };
        let windows: usize = watcher.windows.iter().map(latencies).sum();
        let jobs: usize = watcher.job_bytes.iter().map(|one| size_of_val(&**one)).sum();
        windows + jobs + watcher.windows.len() * size_of::<SeriesWindow>()
    }

    #[test]
    fn an_hour_takes_no_more_memory_than_its_first_minute() {
        let folder = Folder::temporary("series-hour");
        let mut job = JobBuilder::new("job", &folder.join("data"));
        job.set_text("size", "1m").unwrap();
        job.set_text("runtime", "1h").unwrap();
        let plan = job.plan().unwrap();
        let which = WhichLatencies {
            slat: false,
            clat: true,
            lat: false,
            response: PerDir::default(),
            dirs: PerDir([true, false, false]),
            syncs: false,
        };
        let (_writer, counters) = CountersWriter::new(&which);
        let shared = Shared::new(counters, plan.jobs[0].measure.clock, WithOthers::default());
        let shared = [Arc::new(shared)];
        let mut watcher = SeriesWatcher::new(&plan);
        watcher.begin(Vec::new());
        let began = watcher.due() - SHORT;
        let (mut first_minute, mut most) = (0, 0);
        while watcher.due() < began + Duration::from_secs(3600) {
            let lane = shared[0].counters.lane(Dir::Read);
            for latency in (10..30).map(|octave| 1 << octave) {
                lane.clat.add(latency);
                lane.clat_histogram.as_ref().unwrap().add_many(latency, 1);
                lane.ios.add(1);
                lane.bytes.add(4096);
            }
            let now = watcher.due();
            watcher.look_at(now, &shared);
            let held = bytes_of(&watcher);
            most = held.max(most);
            if now < began + Duration::from_secs(64) {
                first_minute = most;
            }
        }
        assert!(first_minute > 100_000, "{first_minute}: windows of a minute are kept");
        assert!(most <= first_minute, "{most} bytes, {first_minute} after a minute");
        let series = watcher.finish(&plan);
        assert!((KEPT_MOST / 2..=KEPT_MOST).contains(&series.windows.len()));
        assert_eq!(series.interval_ns, 200_000_000 << 6, "an hour in windows of 12.8 s");
    }
}
