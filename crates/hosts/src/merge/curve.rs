//! Bytes and I/Os of a run over time, to be read between two moments.

use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_report::series::RunSeries;

/// What each direction did since the start, at the ends of windows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RateCurve {
    interval_ns: u64,
    /// When the last window ends.
    ends_ns: u64,
    /// Bytes and I/Os since the start; empty for a direction that did nothing.
    sums: PerDir<Vec<(u64, u64)>>,
}

impl RateCurve {
    /// The curve of a series; `None` where a window was not sampled.
    pub fn new(series: &RunSeries) -> Option<RateCurve> {
        let is_whole = series.windows.iter().all(|window| window.sampled);
        if series.windows.is_empty() || !is_whole || series.interval_ns == 0 {
            return None;
        }
        let mut sums: PerDir<Vec<(u64, u64)>> = PerDir::default();
        for dir in DIRS {
            let mut so_far = (0, 0);
            let sum = series.windows.iter().map(|window| {
                let counts = &window.dirs[dir];
                so_far = (so_far.0 + counts.bytes, so_far.1 + counts.ios);
                so_far
            });
            sums[dir] = sum.collect();
            if sums[dir].last() == Some(&(0, 0)) {
                sums[dir] = Vec::new();
            }
        }
        let ends_ns = series.begin_ns(series.windows.len());
        Some(RateCurve { interval_ns: series.interval_ns, ends_ns, sums })
    }

    /// Bytes and I/Os between two moments since the start, of a run that took
    /// `length_ns` and did `whole` in all.
    pub fn between(
        &self,
        dir: Dir,
        (from_ns, to_ns): (u64, u64),
        length_ns: u64,
        whole: (u64, u64),
    ) -> (f64, f64) {
        let at = |ns: u64| self.until(dir, ns, length_ns, whole);
        let ((before_bytes, before_ios), (bytes, ios)) = (at(from_ns), at(to_ns));
        (bytes - before_bytes, ios - before_ios)
    }

    fn until(&self, dir: Dir, ns: u64, length_ns: u64, whole: (u64, u64)) -> (f64, f64) {
        let sums = &self.sums[dir];
        let known_ns = if sums.is_empty() { 0 } else { self.ends_ns.min(length_ns) };
        let point = |at: usize| match at {
            0 => (0, 0),
            at => sums[at - 1],
        };
        let (left, left_ns, right, right_ns) = if ns < known_ns {
            // The last may be of another length.
            let at = ((ns / self.interval_ns) as usize).min(sums.len() - 1);
            let left_ns = at as u64 * self.interval_ns;
            let is_last = at + 1 == sums.len();
            let right_ns = if is_last { self.ends_ns } else { left_ns + self.interval_ns };
            (point(at), left_ns, point(at + 1), right_ns)
        } else {
            // After the last window, what it lacks of the whole.
            (point(sums.len()), known_ns, whole, length_ns)
        };
        let share =
            (ns.min(right_ns) - left_ns.min(ns)) as f64 / (right_ns - left_ns).max(1) as f64;
        let on = |left: u64, right: u64| left as f64 + share * right.saturating_sub(left) as f64;
        (on(left.0, right.0), on(left.1, right.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_report::series::{SeriesWindow, WindowCounts};

    fn series(bytes: &[u64]) -> RunSeries {
        let window = |&bytes: &u64| {
            let counts = WindowCounts { bytes, ios: bytes / 10, ..WindowCounts::default() };
            SeriesWindow {
                sampled: true,
                dirs: PerDir([counts, WindowCounts::default(), WindowCounts::default()]),
                ..SeriesWindow::default()
            }
        };
        RunSeries {
            interval_ns: 100,
            windows: bytes.iter().map(window).collect(),
            ..RunSeries::default()
        }
    }

    #[test]
    fn a_part_of_a_run_has_the_bytes_of_its_windows() {
        let curve = RateCurve::new(&series(&[100, 300, 600])).unwrap();
        let whole = (1100, 110);
        let part = |from, to| curve.between(Dir::Read, (from, to), 350, whole);
        assert_eq!(part(0, 350), (1100.0, 110.0));
        assert_eq!(part(0, 100), (100.0, 10.0));
        assert_eq!(part(50, 150), (200.0, 20.0));
        assert_eq!(part(300, 350), (100.0, 10.0));
        assert_eq!(curve.between(Dir::Write, (0, 100), 350, (0, 0)), (0.0, 0.0));
    }

    #[test]
    fn a_last_window_that_is_shorter_has_its_bytes() {
        let short = RunSeries { last_ns: Some(50), ..series(&[100, 300, 600]) };
        let curve = RateCurve::new(&short).unwrap();
        let part = |from, to| curve.between(Dir::Read, (from, to), 250, (1000, 100));
        assert_eq!(part(0, 250), (1000.0, 100.0));
        assert_eq!(part(200, 225), (300.0, 30.0));
    }

    #[test]
    fn a_window_that_was_not_sampled_leaves_no_curve() {
        let mut made = series(&[1, 2]);
        made.windows[1].sampled = false;
        assert_eq!(RateCurve::new(&made), None);
        assert_eq!(RateCurve::new(&RunSeries::default()), None);
    }
}
