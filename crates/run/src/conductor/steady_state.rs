//! When numbers are steady: the arithmetic of `steadystate`, on numbers alone.
//!
//! A window of samples slides over the run. Its numbers are steady when the
//! one furthest from the mean, or the slope of the line through them, is
//! within the limit.

use crate::job::SteadyPlan;
use iosonde_report::{SteadyResult, SteadySample};
use iosonde_spec::values::{Criterion, Limit, SteadyGoal};
use std::collections::VecDeque;

/// What jobs have counted until a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// I/Os completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Completion latencies known.
    pub latencies: u64,
    /// Their sum, in nanoseconds.
    pub latency_ns: u128,
}

impl Counted {
    /// What came in an interval of `elapsed_ns` since `earlier`, for a second.
    fn since(&self, earlier: &Counted, elapsed_ns: u64) -> SteadySample {
        let elapsed = u128::from(elapsed_ns.max(1));
        let per_second =
            |now: u64, then: u64| u128::from(now.saturating_sub(then)) * 1_000_000_000 / elapsed;
        let latencies = self.latencies.saturating_sub(earlier.latencies).max(1);
        let latency_ns = self.latency_ns.saturating_sub(earlier.latency_ns) / u128::from(latencies);
        let whole = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
        SteadySample {
            iops: whole(per_second(self.ios, earlier.ios)),
            bw_bytes_per_s: whole(per_second(self.bytes, earlier.bytes)),
            lat_ns: whole(latency_ns),
        }
    }
}

/// Result of a full window of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Largest distance from the mean; zero where the slope is watched.
    pub deviation: f64,
    /// Slope of the line of least squares, for one interval; zero where the
    /// distance is watched.
    pub slope: f64,
    /// What is compared with the limit; in percent of the mean where that is.
    pub criterion: f64,
    /// Within the limit.
    pub steady: bool,
}

/// The last samples of a job, or of the jobs of a group together.
#[derive(Clone, Debug)]
pub struct SteadyWindow {
    plan: SteadyPlan,
    size: usize,
    samples: VecDeque<SteadySample>,
    last: Option<(u64, Counted)>,
    verdict: Verdict,
}

impl SteadyWindow {
    /// An empty window.
    pub fn new(plan: SteadyPlan) -> SteadyWindow {
        let size = plan.duration.0 / plan.interval.0.max(1);
        SteadyWindow {
            plan,
            size: usize::try_from(size).unwrap_or(usize::MAX).max(1),
            samples: VecDeque::new(),
            last: None,
            verdict: Verdict::default(),
        }
    }

    /// Take in what was counted until `now_ns`; whether the window is full and
    /// its numbers are steady. The first call sets where to begin.
    pub fn look(&mut self, now_ns: u64, counted: Counted) -> bool {
        if let Some((then_ns, earlier)) = self.last.replace((now_ns, counted)) {
            if self.samples.len() == self.size {
                self.samples.pop_front();
            }
            self.samples.push_back(counted.since(&earlier, now_ns.saturating_sub(then_ns)));
        }
        if self.samples.len() == self.size {
            self.verdict = judge(&self.watched(), self.plan.goal);
        }
        self.verdict.steady
    }

    /// The numbers that are watched, oldest first.
    fn watched(&self) -> Vec<u64> {
        let pick = |sample: &SteadySample| match self.plan.goal.criterion {
            Criterion::Iops | Criterion::IopsSlope => sample.iops,
            Criterion::Bw | Criterion::BwSlope => sample.bw_bytes_per_s,
            Criterion::Lat | Criterion::LatSlope => sample.lat_ns,
        };
        self.samples.iter().map(pick).collect()
    }

    /// For the report.
    pub fn result(&self) -> SteadyResult {
        let (limit, limit_is_percent) = match self.plan.goal.limit {
            Limit::Percent(limit) => (limit, true),
            Limit::Absolute(limit) => (limit, false),
        };
        SteadyResult {
            what: self.plan.goal.criterion.word().to_owned(),
            limit,
            limit_is_percent,
            duration_s: self.plan.duration.0 / 1_000_000_000,
            attained: self.verdict.steady,
            criterion: self.verdict.criterion,
            max_deviation: self.verdict.deviation,
            slope: self.verdict.slope,
            samples: self.samples.iter().copied().collect(),
            samples_max: self.size,
        }
    }
}

/// Whether these numbers are steady.
pub fn judge(numbers: &[u64], goal: SteadyGoal) -> Verdict {
    let by_slope =
        matches!(goal.criterion, Criterion::IopsSlope | Criterion::BwSlope | Criterion::LatSlope);
    let n = numbers.len().max(1);
    let sum: u128 = numbers.iter().copied().map(u128::from).sum();
    let (deviation, slope, mean) = if by_slope {
        (0.0, slope(numbers), (sum / n as u128) as f64)
    } else {
        let mean = sum as f64 / n as f64;
        let off = numbers.iter().map(|&number| (number as f64 - mean).abs());
        (off.fold(0.0, f64::max), 0.0, mean)
    };
    let off = if by_slope { slope } else { deviation };
    let (criterion, limit) = match goal.limit {
        Limit::Absolute(limit) => (off, limit),
        // No I/O at all is not steady, it is nothing: never within a limit.
        Limit::Percent(limit) if mean == 0.0 => (f64::from(u8::from(off != 0.0)) * 100.0, limit),
        Limit::Percent(limit) => (100.0 * off / mean, limit),
    };
    Verdict { deviation, slope, criterion, steady: sum > 0 && criterion.abs() < limit }
}

/// The slope of the line of least squares through numbers at 0, 1, 2...
fn slope(numbers: &[u64]) -> f64 {
    let n = numbers.len() as f64;
    if numbers.len() < 2 {
        return 0.0;
    }
    let x_mean = (n - 1.0) / 2.0;
    let y_mean = numbers.iter().map(|&y| y as f64).sum::<f64>() / n;
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, &y) in numbers.iter().enumerate() {
        let x = x as f64 - x_mean;
        xy += x * (y as f64 - y_mean);
        xx += x * x;
    }
    xy / xx
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Nanos;

    fn goal(criterion: Criterion, limit: Limit) -> SteadyGoal {
        SteadyGoal { criterion, limit }
    }

    #[test]
    fn the_deviation_is_that_of_the_number_furthest_from_the_mean() {
        // Mean 4003.333, furthest 3998: 5.333, and that is 0.13322 % of the mean.
        // fio 3.33 says the same of these: "0.133222%", 5.333333.
        let verdict = judge(&[4004, 3998, 4008], goal(Criterion::Iops, Limit::Percent(20.0)));
        assert_eq!(format!("{:.6}", verdict.deviation), "5.333333");
        assert_eq!(format!("{:.6}", verdict.criterion), "0.133222");
        assert!(verdict.steady);
        assert_eq!(verdict.slope, 0.0);
    }

    #[test]
    fn the_limit_itself_is_not_within_the_limit() {
        let at = |limit| judge(&[99, 100, 101], goal(Criterion::Bw, Limit::Absolute(limit)));
        assert_eq!(at(1.0).criterion, 1.0);
        assert!(!at(1.0).steady);
        assert!(at(1.001).steady);
    }

    #[test]
    fn a_line_has_its_own_slope() {
        let by = |numbers: &[u64], limit| judge(numbers, goal(Criterion::IopsSlope, limit));
        assert_eq!(by(&[10, 20, 30, 40], Limit::Absolute(11.0)).slope, 10.0);
        assert_eq!(by(&[40, 30, 20, 10], Limit::Absolute(11.0)).slope, -10.0);
        assert!(by(&[40, 30, 20, 10], Limit::Absolute(11.0)).steady, "falling counts as rising");
        assert!(!by(&[40, 30, 20, 10], Limit::Absolute(10.0)).steady);
        // x - 1.5: -1.5 -0.5 0.5 1.5; y - 4: -3 1 -1 3; 4.5 - 0.5 - 0.5 + 4.5 = 8; / 5.
        let uneven = by(&[1, 5, 3, 7], Limit::Percent(50.0));
        assert_eq!(uneven.slope, 1.6);
        assert_eq!(uneven.criterion, 40.0);
        assert_eq!(by(&[7], Limit::Absolute(1.0)).slope, 0.0, "one number has no slope");
    }

    #[test]
    fn a_slope_is_reported_in_percent_of_the_whole_part_of_the_mean() {
        // Mean 3.5, of which 3 counts: slope 1 is 33.3 %.
        let verdict = judge(&[3, 4], goal(Criterion::LatSlope, Limit::Percent(40.0)));
        assert_eq!(format!("{:.3}", verdict.criterion), "33.333");
    }

    #[test]
    fn nothing_is_never_steady() {
        for limit in [Limit::Percent(99.0), Limit::Absolute(1e9)] {
            for criterion in [Criterion::Iops, Criterion::BwSlope] {
                assert!(!judge(&[0, 0, 0], goal(criterion, limit)).steady);
            }
        }
    }

    fn window(seconds: u64, interval_ms: u64, goal: SteadyGoal) -> SteadyWindow {
        SteadyWindow::new(SteadyPlan {
            goal,
            duration: Nanos(seconds * 1_000_000_000),
            ramp: Nanos(0),
            interval: Nanos(interval_ms * 1_000_000),
        })
    }

    /// So many I/Os of 4 KiB, 1000 ns each.
    fn counted(ios: u64) -> Counted {
        Counted { ios, bytes: ios * 4096, latencies: ios, latency_ns: u128::from(ios) * 1000 }
    }

    #[test]
    fn a_window_judges_once_it_is_full_and_slides() {
        let mut window = window(3, 1000, goal(Criterion::Iops, Limit::Percent(10.0)));
        // Totals after 0, 1, 2... seconds: rates 500, 1000, 1000, 1010.
        let totals = [0, 500, 1500, 2500, 3510];
        let steady: Vec<bool> = (0u64..)
            .zip(totals)
            .map(|(second, ios)| window.look(second * 1_000_000_000, counted(ios)))
            .collect();
        assert_eq!(steady, [false, false, false, false, true]);
        let result = window.result();
        assert!(result.attained);
        assert_eq!(result.samples.iter().map(|s| s.iops).collect::<Vec<_>>(), [1000, 1000, 1010]);
        assert_eq!(result.samples[0].bw_bytes_per_s, 4_096_000);
        assert_eq!(result.samples[2].lat_ns, 1000);
        assert_eq!((result.what.as_str(), result.duration_s), ("iops", 3));
    }

    #[test]
    fn a_late_look_does_not_change_the_rate() {
        let mut window = window(1, 500, goal(Criterion::Bw, Limit::Absolute(1.0)));
        assert!(!window.look(0, counted(0)));
        assert!(!window.look(500_000_000, counted(1000)));
        // A tenth of a second late, with as many more.
        assert!(window.look(1_100_000_000, counted(2200)));
        assert_eq!(window.result().criterion, 0.0);
    }

    #[test]
    fn a_window_that_never_filled_is_reported_as_it_is() {
        let mut window = window(5, 1000, goal(Criterion::Lat, Limit::Absolute(5.0)));
        window.look(0, counted(0));
        window.look(1_000_000_000, counted(10));
        let result = window.result();
        assert!(!result.attained);
        assert_eq!((result.samples.len(), result.criterion), (1, 0.0));
    }
}
