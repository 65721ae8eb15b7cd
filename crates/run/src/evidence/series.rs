//! The run over time: the jobs' counters, looked at between ticks.
//!
//! Only the conductor looks, and only at what any thread may read: the loop
//! does not know of it.

use super::windows::SystemWindows;
use crate::control::Shared;
use crate::job::{JobPlan, Plan};
use iosonde_base::{DIRS, PerDir};
use iosonde_report::series::{
    JOB_WINDOWS_MOST, JOBS_MOST, JobSeries, RunSeries, SeriesWindow, SyncCounts, WINDOWS_MOST,
    WindowCounts,
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
const _: () = assert!(KEPT_MOST < WINDOWS_MOST);

/// What is counted in less than this after a window belongs to it: the thread that looks is
/// not woken more exactly.
const REST_LEAST: Duration = Duration::from_millis(1);

/// Looks at the counters of all jobs again and again.
pub(super) struct SeriesWatcher {
    every: Duration,
    due: Instant,
    counted: Counted,
    windows: Vec<SeriesWindow>,
    /// Of each job, if there are few, bytes of each window.
    job_bytes: Vec<Vec<u64>>,
    /// How many windows make one of a job's own.
    job_together: usize,
    system: SystemWindows,
    rest: Option<Rest>,
}

/// What all jobs have counted.
#[derive(Clone, Default)]
struct Counted {
    dirs: PerDir<WindowCounts>,
    syncs: SyncCounts,
    /// Bytes of each job.
    jobs: Vec<u64>,
    longest_ns: u64,
    longest_sync_ns: u64,
}

/// What was counted after the last window, when a wave ended.
struct Rest {
    length: Duration,
    window: SeriesWindow,
    /// Bytes of each job.
    jobs: Vec<u64>,
}

impl Default for SeriesWatcher {
    fn default() -> SeriesWatcher {
        SeriesWatcher {
            every: SHORT,
            due: Instant::now() + SHORT,
            counted: Counted::default(),
            windows: Vec::new(),
            job_bytes: Vec::new(),
            job_together: 1,
            system: SystemWindows::default(),
            rest: None,
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
            job_bytes: vec![Vec::new(); own],
            system: SystemWindows::new(plan.jobs.iter().any(buffered)),
            ..SeriesWatcher::default()
        }
    }

    /// When it wants to look again.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// A wave begins: time between waves is nobody's, and the last window of the wave before
    /// goes on. `devices` are those directly below the files.
    pub fn begin(&mut self, devices: Vec<String>) {
        self.system.begin(devices);
        let gone = self.rest.as_ref().map_or(Duration::ZERO, |rest| rest.length);
        self.due = Instant::now() + self.every.saturating_sub(gone);
    }

    /// Look, if it is time.
    pub fn look(&mut self, shared: &[Arc<Shared>]) {
        self.look_at(Instant::now(), shared);
    }

    fn look_at(&mut self, now: Instant, shared: &[Arc<Shared>]) {
        if now < self.due {
            return;
        }
        if self.begins_anew(shared) {
            self.forget(now, shared);
            return;
        }
        let is_late = now >= self.due + self.every;
        self.due = if is_late { now + self.every } else { self.due + self.every };
        // Of more time than the others it would look like a peak.
        let (window, bytes) = self.window(shared, !is_late);
        self.windows.push(window);
        self.push_job_bytes(&bytes);
        if self.windows.len() >= KEPT_MOST {
            self.windows =
                RunSeries { windows: std::mem::take(&mut self.windows), ..RunSeries::default() }
                    .in_at_most(KEPT_MOST / 2)
                    .windows;
            self.due += self.every;
            self.every *= 2;
            self.job_together = (self.job_together / 2).max(1);
        }
    }

    /// What was counted after the last window, with the bytes of each job, and what the system
    /// did. All that follows is of the next.
    fn window(&mut self, shared: &[Arc<Shared>], sampled: bool) -> (SeriesWindow, Vec<u64>) {
        let all = Counted::of(shared, |_| true);
        let system = self.system.end_window();
        let before = &self.counted;
        let window = SeriesWindow {
            sampled,
            dirs: PerDir(DIRS.map(|dir| since(&all.dirs[dir], &before.dirs[dir]))),
            syncs: SyncCounts {
                ios: all.syncs.ios.saturating_sub(before.syncs.ios),
                latency: all.syncs.latency.since(&before.syncs.latency),
            },
            dirty_bytes: system.dirty_bytes,
            device: system.device,
            steal_share: system.steal_share,
        };
        let of_job = |(job, bytes): (usize, &u64)| bytes.saturating_sub(before.bytes(job));
        let bytes: Vec<u64> = all.jobs.iter().enumerate().map(of_job).collect();
        self.counted = all;
        match self.rest.take() {
            None => (window, bytes),
            Some(Rest { window: mut first, jobs, .. }) => {
                first.merge(&window);
                (first, bytes.iter().zip(jobs).map(|(one, other)| one + other).collect())
            }
        }
    }

    /// Whether a job has begun to count anew: at the end of a ramp.
    fn begins_anew(&self, shared: &[Arc<Shared>]) -> bool {
        let mut jobs = shared.iter().enumerate();
        jobs.any(|(job, shared)| bytes_of(shared) < self.counted.bytes(job))
    }

    /// What was counted in a ramp does not belong to the run: the first window begins where
    /// the ramp of the jobs ended. Of jobs that ramp for different times it begins at the last
    /// end, and what the others have counted until then is in none.
    fn forget(&mut self, now: Instant, shared: &[Arc<Shared>]) {
        self.windows.clear();
        self.job_bytes.iter_mut().for_each(Vec::clear);
        self.job_together = 1;
        self.rest = None;
        // Ramps that end together end on both sides of a look.
        let recent = self.every + self.every / 4;
        let began = |shared: &Shared| shared.began_ago().filter(|ago| *ago < recent);
        let ago = shared.iter().filter_map(|shared| began(shared)).max().unwrap_or_default();
        self.counted = Counted::of(shared, |shared| began(shared).is_none());
        self.system.end_window();
        self.due = now + self.every.saturating_sub(ago);
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

    /// The jobs of a wave have ended: the last of them counted until then.
    pub fn end(&mut self, ended: Instant, shared: &[Arc<Shared>]) {
        if self.begins_anew(shared) {
            self.forget(Instant::now(), shared);
        }
        let (mut window, mut jobs) = self.window(shared, true);
        let mut began = self.due - self.every;
        // Time in which files were closed is of no window.
        while began + REST_LEAST > ended
            && let Some(last) = self.windows.pop()
        {
            let rest = std::mem::replace(&mut window, last);
            window.merge(&rest);
            began -= self.every;
        }
        let own = self.windows.len().div_ceil(self.job_together);
        for (series, rest) in self.job_bytes.iter_mut().zip(&mut jobs) {
            *rest += series.drain(own.min(series.len())..).sum::<u64>();
        }
        let length = ended.saturating_duration_since(began).max(Duration::from_nanos(1));
        self.rest = Some(Rest { length, window, jobs });
    }

    /// What was seen.
    pub fn finish(mut self, plan: &Plan) -> RunSeries {
        let interval_ns = self.every.as_nanos() as u64;
        let rest =
            self.rest.take().filter(|rest| rest.length >= REST_LEAST || rest.window.has_counts());
        let last_ns = rest.map_or(interval_ns, |Rest { length, window, jobs }| {
            self.windows.push(window);
            self.push_job_bytes(&jobs);
            // One that is longer by as little as a look is late is a whole one.
            let is_whole = length.abs_diff(self.every) < REST_LEAST;
            if is_whole { interval_ns } else { length.as_nanos() as u64 }
        });
        let job_ns = interval_ns.saturating_mul(self.job_together as u64);
        let before = self.windows.len().saturating_sub(1) % self.job_together;
        let job_last_ns = interval_ns.saturating_mul(before as u64).saturating_add(last_ns);
        let job = |(job, bytes): (&JobPlan, Vec<u64>)| JobSeries {
            name: job.name.clone(),
            interval_ns: job_ns,
            last_ns: Some(job_last_ns).filter(|&last_ns| last_ns != job_ns && !bytes.is_empty()),
            bytes,
        };
        let jobs = plan.jobs.iter().zip(self.job_bytes).map(job).collect();
        RunSeries {
            interval_ns,
            last_ns: Some(last_ns).filter(|&last_ns| last_ns != interval_ns),
            latency_max_ns: self.counted.longest_ns,
            sync_max_ns: self.counted.longest_sync_ns,
            windows: self.windows,
            jobs,
        }
    }
}

impl Counted {
    /// What these jobs have counted; of the others nothing.
    fn of(shared: &[Arc<Shared>], counts: impl Fn(&Shared) -> bool) -> Counted {
        let mut all = Counted { jobs: Vec::with_capacity(shared.len()), ..Counted::default() };
        for shared in shared {
            if !counts(shared) {
                all.jobs.push(0);
                continue;
            }
            for dir in DIRS {
                let lane = shared.counters.lane(dir);
                let sum = &mut all.dirs[dir];
                sum.bytes += lane.bytes.get();
                sum.ios += lane.ios.get();
                sum.errors += lane.errors.get();
                let longest = add_latency(lane, &mut sum.latency);
                all.longest_ns = all.longest_ns.max(longest);
            }
            let sync = &shared.counters.sync;
            all.syncs.ios += sync.ios.get();
            let longest = add_latency(sync, &mut all.syncs.latency);
            all.longest_sync_ns = all.longest_sync_ns.max(longest);
            all.jobs.push(bytes_of(shared));
        }
        all
    }

    /// Of a job.
    fn bytes(&self, job: usize) -> u64 {
        self.jobs.get(job).copied().unwrap_or(0)
    }
}

fn bytes_of(shared: &Shared) -> u64 {
    DIRS.into_iter().map(|dir| shared.counters.lane(dir).bytes.get()).sum()
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

/// The latency that reports show; the longest.
fn add_latency(lane: &Lane, sum: &mut CoarseCounts) -> u64 {
    match lane.shown_latency() {
        Some((histogram, moments)) if moments.n > 0 => {
            histogram.add_coarse(moments.least(), moments.max, sum);
            moments.max
        }
        _ => 0,
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

    /// A plan of one job, and what it shares.
    fn one_job(name: &str) -> (Plan, Vec<Arc<Shared>>, CountersWriter) {
        let folder = Folder::temporary(name);
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
            syncs: true,
        };
        let (writer, counters) = CountersWriter::new(&which);
        let shared = Shared::new(counters, plan.jobs[0].measure.clock, WithOthers::default());
        (plan, vec![Arc::new(shared)], writer)
    }

    /// It completes reads of these latencies.
    fn read(shared: &[Arc<Shared>], latencies: impl IntoIterator<Item = u64>) {
        let lane = shared[0].counters.lane(Dir::Read);
        for latency in latencies {
            lane.clat.add(latency);
            lane.clat_histogram.as_ref().unwrap().add_many(latency, 1);
            lane.ios.add(1);
            lane.bytes.add(4096);
        }
    }

    /// What the windows take, all latencies of the same spread.
    fn bytes_held(watcher: &SeriesWatcher) -> usize {
        let latencies = |window: &SeriesWindow| {
            DIRS.map(|dir| size_of_val(window.dirs[dir].latency.parts().1))
                .into_iter()
                .sum::<usize>()
        };
        let windows: usize = watcher.windows.iter().map(latencies).sum();
        let jobs: usize = watcher.job_bytes.iter().map(|one| size_of_val(&**one)).sum();
        windows + jobs + watcher.windows.len() * size_of::<SeriesWindow>()
    }

    fn ios(series: &RunSeries) -> Vec<u64> {
        series.windows.iter().map(|window| window.dirs[Dir::Read].ios).collect()
    }

    #[test]
    fn an_hour_takes_no_more_memory_than_its_first_minute() {
        let (plan, shared, _writer) = one_job("series-hour");
        let mut watcher = SeriesWatcher::new(&plan);
        watcher.begin(Vec::new());
        let began = watcher.due() - SHORT;
        let (mut first_minute, mut most) = (0, 0);
        while watcher.due() < began + Duration::from_secs(3600) {
            read(&shared, (10..30).map(|octave| 1 << octave));
            let now = watcher.due();
            watcher.look_at(now, &shared);
            let held = bytes_held(&watcher);
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

    #[test]
    fn what_completes_after_the_last_whole_window_is_in_a_shorter_one() {
        let (plan, shared, _writer) = one_job("series-rest");
        let mut watcher = SeriesWatcher::new(&plan);
        watcher.begin(Vec::new());
        let began = watcher.due() - SHORT;
        for _ in 0..2 {
            read(&shared, [1000, 2000]);
            watcher.look_at(watcher.due(), &shared);
        }
        read(&shared, [7_000_000]);
        watcher.end(began + Duration::from_millis(450), &shared);
        let series = watcher.finish(&plan);
        assert_eq!((ios(&series), series.last_ns), (vec![2, 2, 1], Some(50_000_000)));
        assert_eq!(series.latency_max_ns, 7_000_000);
        assert_eq!(series.jobs[0].bytes, [8192, 8192, 4096]);
        assert_eq!(series.jobs[0].last_ns, series.last_ns);
    }

    #[test]
    fn time_after_the_end_is_in_no_window() {
        let (plan, shared, _writer) = one_job("series-end");
        let mut watcher = SeriesWatcher::new(&plan);
        watcher.begin(Vec::new());
        let began = watcher.due() - SHORT;
        for _ in 0..2 {
            read(&shared, [1000]);
            watcher.look_at(watcher.due(), &shared);
        }
        // Its files are closed for 0.4 s.
        watcher.look_at(watcher.due(), &shared);
        watcher.look_at(watcher.due(), &shared);
        watcher.end(began + Duration::from_millis(300), &shared);
        let series = watcher.finish(&plan);
        assert_eq!((ios(&series), series.last_ns), (vec![1, 1], Some(100_000_000)));
        assert_eq!(series.jobs[0].bytes, [4096, 4096]);
    }

    #[test]
    fn syncs_have_windows_too() {
        let (plan, shared, _writer) = one_job("series-syncs");
        let mut watcher = SeriesWatcher::new(&plan);
        watcher.begin(Vec::new());
        for latencies in [&[1_000_000, 2_000_000][..], &[9_000_000]] {
            let sync = &shared[0].counters.sync;
            for &latency in latencies {
                sync.ios.add(1);
                sync.lat.add(latency);
                sync.lat_histogram.as_ref().unwrap().add_many(latency, 1);
            }
            watcher.look_at(watcher.due(), &shared);
        }
        let series = watcher.finish(&plan);
        let syncs = |at: usize| &series.windows[at].syncs;
        assert_eq!(
            [syncs(0), syncs(1)].map(|one| (one.ios, one.latency.total())),
            [(2, 2), (1, 1)]
        );
        assert_eq!((series.sync_max_ns, series.latency_max_ns), (9_000_000, 0));
    }

    #[test]
    fn a_window_goes_on_in_the_next_wave() {
        let (plan, shared, _writer) = one_job("series-waves");
        let mut watcher = SeriesWatcher::new(&plan);
        watcher.begin(Vec::new());
        let began = watcher.due() - SHORT;
        read(&shared, [1000]);
        watcher.look_at(watcher.due(), &shared);
        read(&shared, [1000, 1000]);
        watcher.end(began + Duration::from_millis(350), &shared);
        let before = Instant::now();
        watcher.begin(Vec::new());
        assert!(watcher.due() - before < Duration::from_millis(100), "50 ms are left of it");
        read(&shared, [1000, 1000, 1000]);
        watcher.look_at(watcher.due(), &shared);
        let series = watcher.finish(&plan);
        assert_eq!((ios(&series), series.last_ns), (vec![1, 5], None));
        assert_eq!(series.jobs[0].bytes, [4096, 5 * 4096]);
    }
}
