//! I/Os, bytes and latencies in windows of time that grow with the log.

use crate::LogRow;
use iosonde_base::{Dir, PerDir};
use iosonde_report::series::{RunSeries, SeriesWindow};
use iosonde_stats::{CoarseCounts, bucket};

/// Fine buckets of a histogram in a coarse one.
const FINE: usize = iosonde_stats::BUCKETS / iosonde_stats::COARSE_BUCKETS;

/// Windows of one length from a moment on. When there would be more than
/// `most`, pairs of them are merged, and their length doubles.
#[derive(Clone, Debug)]
pub struct TimeWindows {
    origin_ms: u64,
    width_ms: u64,
    most: usize,
    windows: Vec<SeriesWindow>,
    /// The longest latency; 0 where only buckets of latencies are known.
    longest_ns: u64,
}

impl TimeWindows {
    /// Windows of `width_ms` at first, from `origin_ms` on.
    pub fn new(origin_ms: u64, width_ms: u64, most: usize) -> TimeWindows {
        let (width_ms, most) = (width_ms.max(1), most.max(2));
        TimeWindows { origin_ms, width_ms, most, windows: Vec::new(), longest_ns: 0 }
    }

    /// How long a window is.
    pub fn width_ms(&self) -> u64 {
        self.width_ms
    }

    /// The window of a moment. What is before the origin is in the first.
    fn at(&mut self, time_ms: u64) -> &mut SeriesWindow {
        let index = self.index(time_ms);
        if index >= self.windows.len() {
            self.windows.resize(index + 1, SeriesWindow::default());
        }
        &mut self.windows[index]
    }

    fn index(&mut self, time_ms: u64) -> usize {
        let since = time_ms.saturating_sub(self.origin_ms);
        while since / self.width_ms >= self.most as u64 {
            self.halve();
        }
        // Below `most`, which is a usize.
        (since / self.width_ms) as usize
    }

    /// Merge windows in pairs.
    fn halve(&mut self) {
        let merge = |pair: &[SeriesWindow]| {
            let mut merged = pair[0].clone();
            for next in &pair[1..] {
                // Each window is known or holds nothing, so that half of a window is no gap.
                let sampled = merged.sampled || next.sampled;
                merged.merge(next);
                merged.sampled = sampled;
            }
            merged
        };
        self.windows = self.windows.chunks(2).map(merge).collect();
        self.width_ms = self.width_ms.saturating_mul(2);
    }

    /// Count an I/O, and its latency where there is one.
    pub(crate) fn add_io(&mut self, row: &LogRow, latency_ns: Option<u64>) {
        self.longest_ns = self.longest_ns.max(latency_ns.unwrap_or(0));
        let counts = &mut self.at(row.time_ms).dirs[row.dir];
        counts.ios += 1;
        counts.bytes += row.block;
        if let Some(ns) = latency_ns {
            counts.latency.add(bucket(ns) / FINE, 1);
        }
    }

    /// Count the latencies of a row of a histogram log: pairs of a fine bucket and
    /// a count. `block` is the size of an I/O.
    pub(crate) fn add_buckets(
        &mut self,
        time_ms: u64,
        dir: Dir,
        block: u64,
        buckets: &[(usize, u64)],
    ) {
        let counts = &mut self.at(time_ms).dirs[dir];
        for &(bucket, count) in buckets {
            counts.ios += count;
            counts.bytes = counts.bytes.saturating_add(count.saturating_mul(block));
            counts.latency.add(bucket / FINE, count);
        }
    }

    /// Mark the windows between two moments as known: what was not counted there
    /// did not happen.
    pub(crate) fn cover(&mut self, from_ms: u64, to_ms: u64) {
        let last = self.index(to_ms.saturating_sub(1).max(from_ms));
        let first = self.index(from_ms).min(last);
        if last >= self.windows.len() {
            self.windows.resize(last + 1, SeriesWindow::default());
        }
        self.windows[first..=last].iter_mut().for_each(|window| window.sampled = true);
    }

    /// The windows, as the series of a run.
    pub fn series(&self) -> RunSeries {
        RunSeries {
            interval_ns: self.width_ms.saturating_mul(1_000_000),
            windows: self.windows.clone(),
            latency_max_ns: self.longest_ns,
            ..RunSeries::default()
        }
    }

    /// All latencies of each direction together, in coarse buckets.
    pub fn latencies(&self) -> PerDir<CoarseCounts> {
        let mut all: PerDir<CoarseCounts> = PerDir::default();
        for window in &self.windows {
            for dir in iosonde_base::DIRS {
                all[dir].merge(&window.dirs[dir].latency);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(time_ms: u64) -> LogRow {
        LogRow { time_ms, value: 1, most: 1, dir: Dir::Write, block: 512, offset: None }
    }

    #[test]
    fn windows_grow_and_nothing_is_lost() {
        let mut windows = TimeWindows::new(0, 1, 4);
        for time in [0, 1, 2, 3, 4, 100] {
            windows.add_io(&row(time), Some(1000));
        }
        assert_eq!(windows.width_ms(), 32);
        let series = windows.series();
        let ios: Vec<u64> = series.windows.iter().map(|w| w.dirs[Dir::Write].ios).collect();
        assert_eq!(ios, [5, 0, 0, 1]);
        assert_eq!(series.windows[0].dirs[Dir::Write].bytes, 5 * 512);
        assert_eq!(windows.latencies()[Dir::Write].total(), 6);
    }

    #[test]
    fn what_is_not_covered_is_a_gap() {
        let mut windows = TimeWindows::new(1000, 10, 100);
        windows.cover(1000, 1020);
        windows.cover(1030, 1040);
        let known: Vec<bool> = windows.series().windows.iter().map(|w| w.sampled).collect();
        assert_eq!(known, [true, true, false, true]);
    }
}
