//! Bandwidth and IOPS over windows of time (`bwavgtime`, `iopsavgtime`).

use crate::job::JobPlan;
use iosonde_base::{DIRS, Dir, Nanos, PerDir};
use iosonde_stats::CountersWriter;
use iosonde_sys::clock::Clock;

/// fio's samples of bandwidth and IOPS: one for each whole window.
pub(crate) struct Sampler {
    bandwidth: RateWindow,
    iops: RateWindow,
    /// When the next window of either kind closes, in ticks.
    pub(crate) next: u64,
}

struct RateWindow {
    every: u64,
    next: u64,
    opened: u64,
    counted: PerDir<u64>,
}

impl RateWindow {
    fn new(every: Nanos, clock: &Clock) -> RateWindow {
        let every = clock.ns_to_ticks(every.0.max(1));
        RateWindow { every, next: u64::MAX, opened: 0, counted: PerDir::default() }
    }

    fn start(&mut self, now: u64) {
        self.opened = now;
        self.next = now.saturating_add(self.every);
        self.counted = PerDir::default();
    }

    /// Close the window: what came in it by direction, and its seconds.
    fn close(&mut self, now: u64, clock: &Clock, count: impl Fn(Dir) -> u64) -> (PerDir<u64>, f64) {
        let total = PerDir(DIRS.map(count));
        let delta = PerDir(DIRS.map(|dir| total[dir].saturating_sub(self.counted[dir])));
        let seconds = clock.ns_between(self.opened, now) as f64 / 1e9;
        self.counted = total;
        self.opened = now;
        // On a grid, so that as many windows fit into a run as its length says.
        // A window that ended late by more than its length begins the grid anew;
        // after one that ended late by more than half of it, what is left is too
        // short for a rate: I/Os are counted a batch at a time.
        self.next = self.next.saturating_add(self.every);
        if self.next <= now {
            self.next = now.saturating_add(self.every);
        } else if self.next - now < self.every / 2 {
            self.next = self.next.saturating_add(self.every);
        }
        (delta, seconds.max(1e-9))
    }
}

impl Sampler {
    /// Closed until [`Sampler::start`].
    pub(crate) fn new(job: &JobPlan, clock: &Clock) -> Sampler {
        Sampler {
            bandwidth: RateWindow::new(job.measure.sample_every.bandwidth, clock),
            iops: RateWindow::new(job.measure.sample_every.iops, clock),
            next: u64::MAX,
        }
    }

    /// Open the first windows.
    pub(crate) fn start(&mut self, now: u64) {
        self.bandwidth.start(now);
        self.iops.start(now);
        self.next = self.bandwidth.next.min(self.iops.next);
    }

    /// Close the windows that are due, and open the next.
    pub(crate) fn sample(&mut self, now: u64, clock: &Clock, writer: &CountersWriter) {
        let counters = writer.counters();
        if now >= self.bandwidth.next {
            let (bytes, seconds) =
                self.bandwidth.close(now, clock, |dir| counters.lane(dir).bytes.get());
            for dir in DIRS.into_iter().filter(|&dir| bytes[dir] > 0) {
                counters.lane(dir).window_bw.add((bytes[dir] as f64 / 1024.0 / seconds) as u64);
            }
        }
        if now >= self.iops.next {
            let (ios, seconds) = self.iops.close(now, clock, |dir| counters.lane(dir).ios.get());
            let rate = |ios: u64| (ios as f64 / seconds) as u64;
            for dir in DIRS.into_iter().filter(|&dir| ios[dir] > 0) {
                counters.lane(dir).window_iops.add(rate(ios[dir]));
            }
            counters.window_iops.add(rate(ios.0.iter().sum()));
        }
        self.next = self.bandwidth.next.min(self.iops.next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_sys::clock::ClockSource;

    #[test]
    fn windows_end_on_a_grid_and_begin_anew_when_one_was_missed() {
        let clock = Clock::pick(ClockSource::ClockGettime).unwrap();
        let mut windows = RateWindow::new(Nanos(500), &clock);
        let every = windows.every;
        windows.start(0);
        assert_eq!(windows.next, every);
        windows.close(every + every / 10, &clock, |_| 1);
        assert_eq!(windows.next, 2 * every);
        let (counts, _) = windows.close(2 * every, &clock, |_| 5);
        assert_eq!((counts[Dir::Read], windows.next), (4, 3 * every));
        windows.close(9 * every, &clock, |_| 5);
        assert_eq!(windows.next, 10 * every);
    }

    #[test]
    fn what_a_late_window_leaves_is_joined_to_the_next_if_it_is_short() {
        let clock = Clock::pick(ClockSource::ClockGettime).unwrap();
        let mut windows = RateWindow::new(Nanos(1000), &clock);
        let every = windows.every;
        windows.start(0);
        windows.close(every + every / 4, &clock, |_| 1);
        assert_eq!(windows.next, 2 * every, "three quarters are left");
        windows.close(2 * every + every * 3 / 4, &clock, |_| 1);
        assert_eq!(windows.next, 4 * every, "a quarter was left");
    }
}
