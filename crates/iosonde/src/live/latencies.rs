//! Percentiles of the last second, from differences of the jobs' histograms.

use iosonde_run::conductor::RunView;
use iosonde_stats::{CoarseCounts, FineCounts, Lane};
use iosonde_sys::clock::SystemClock;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A little less than a second: who looks twice a second need not be exact.
const SECOND: Duration = Duration::from_millis(950);
const EVERY_LEAST: Duration = Duration::from_millis(400);
/// Histograms of hundreds of busy jobs are megabytes: reading them takes at most
/// one part in so many of a processor, and figures are of a longer time then.
const PART: u32 = 800;

/// A lane of all jobs in a window.
#[derive(Clone, Debug, Default)]
pub struct LaneWindow {
    /// p50, p99 and p99.9 in nanoseconds; `None` without I/Os.
    pub percentiles_ns: Option<[u64; 3]>,
    /// The longest, in nanoseconds.
    pub max_ns: Option<u64>,
}

/// Reads the histograms of all jobs now and then.
pub struct WindowLatencies {
    due: Instant,
    past: VecDeque<LatencyTotals>,
    /// Read, write, trim, sync.
    pub lanes: [LaneWindow; 4],
    /// The mean number of I/Os in flight, by Little's law: the time that I/Os
    /// took in the time.
    pub depth: Option<f64>,
    /// Durations of all reads, writes and trims.
    pub all: CoarseCounts,
}

/// What was counted up to a moment.
struct LatencyTotals {
    at: Instant,
    lanes: [FineCounts; 4],
    /// Time that I/Os took, added up.
    taken_ns: u128,
    are_kept: bool,
}

impl WindowLatencies {
    /// Of which nothing has been read.
    pub fn new() -> WindowLatencies {
        WindowLatencies {
            due: Instant::now(),
            past: VecDeque::new(),
            lanes: Default::default(),
            depth: None,
            all: CoarseCounts::default(),
        }
    }

    /// Read, if it is time.
    pub fn look(&mut self, view: &RunView, jobs: usize) {
        if Instant::now() < self.due {
            return;
        }
        let began = processor_time();
        self.past.push_back(LatencyTotals::of(view, jobs));
        let now = Instant::now();
        while self.past.get(1).is_some_and(|next| now - next.at >= SECOND) {
            self.past.pop_front();
        }
        self.compare();
        let took = processor_time().saturating_sub(began);
        self.due = now + (took * PART).max(EVERY_LEAST);
    }

    fn compare(&mut self) {
        let (Some(before), Some(now)) = (self.past.front(), self.past.back()) else { return };
        let seconds = (now.at - before.at).as_secs_f64();
        if seconds == 0.0 {
            return;
        }
        self.all = CoarseCounts::default();
        for (at, (now, before)) in now.lanes.iter().zip(&before.lanes).enumerate() {
            let window = now.since(before);
            let of = |percent| window.percentile(percent);
            let percentiles_ns = of(50.0).zip(of(99.0)).zip(of(99.9)).map(|((a, b), c)| [a, b, c]);
            self.lanes[at] = LaneWindow { percentiles_ns, max_ns: window.largest() };
            if at < 3 {
                self.all.merge(&window.coarse());
            }
        }
        let taken_ns = now.taken_ns.saturating_sub(before.taken_ns);
        self.depth = now.are_kept.then_some(taken_ns as f64 / 1e9 / seconds);
    }
}

impl LatencyTotals {
    fn of(view: &RunView, jobs: usize) -> LatencyTotals {
        let mut totals = LatencyTotals {
            at: Instant::now(),
            lanes: Default::default(),
            taken_ns: 0,
            are_kept: false,
        };
        for job in 0..jobs {
            let counters = view.counters(job);
            counters.lanes.iter().enumerate().for_each(|(at, lane)| totals.add(at, lane));
            totals.add(3, &counters.sync);
        }
        totals
    }

    fn add(&mut self, at: usize, lane: &Lane) {
        let Some((histogram, moments)) = lane.shown_latency() else { return };
        if at < 3 {
            self.are_kept = true;
            self.taken_ns += moments.sum;
        }
        if moments.n > 0 {
            self.lanes[at].add(histogram, moments.least(), moments.max);
        }
    }
}

/// What this thread has used: on a busy machine the time that passes says nothing
/// about the cost.
fn processor_time() -> Duration {
    Duration::from_nanos(SystemClock::THREAD.now_ns())
}
