//! The knee: the load from which on more load adds waiting and no rate.
//!
//! Of a closed loop (a queue depth, a number of jobs) by the asymptotic bounds
//! of a closed system: the rate is at most load / R0 and at most X max, and the
//! two meet at N* = X max * R0 (Little's law). Rules of thumb place it
//! elsewhere: a fitted curve's peak (USL) at ten times N*, "latency doubled"
//! at up to three times.

use crate::random::SeededRandom;
use iosonde_base::median;

/// One load, and the rate of each round at it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPoint {
    /// What is in flight together: depth times jobs.
    pub load: f64,
    /// Operations a second, one value a round.
    pub rates: Vec<f64>,
}

/// Where the knee is.
#[derive(Clone, Debug, PartialEq)]
pub struct Knee {
    /// The load N*.
    pub load: f64,
    /// Where it lies with a confidence of 95 %, by resampling rounds; `None`
    /// of one round.
    pub interval: Option<(f64, f64)>,
    /// The largest median rate, X max.
    pub rate_most: f64,
    /// The least time an operation takes, R0, in seconds.
    pub seconds_least: f64,
}

/// Why there is no knee.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoKnee {
    /// Fewer than three loads, or no rate.
    TooFewLoads,
    /// No load is small enough to show the time of an operation that waits
    /// for no other.
    NoSmallLoad,
    /// The rate still grows at the largest load.
    StillGrows {
        /// The largest load.
        load: f64,
        /// By how much the last doubling of the load raised the rate: 0.3 is
        /// 30 %.
        gain: f64,
    },
    /// The median rate grew at the largest load, and the rounds at it were not all faster
    /// than those at half of it.
    Overlaps {
        /// The largest load.
        load: f64,
        /// By how much the last doubling of the load raised the median rate.
        gain: f64,
    },
    /// The load of the best ratio of rate to latency lies more than a step
    /// away from N*.
    Unclear {
        /// N*.
        bounds: f64,
        /// The load of the best ratio.
        power: f64,
    },
}

/// Up to this load, operations are taken not to wait for each other.
const SMALL_LOAD: f64 = 4.0;
/// A last doubling that gains more than this has not reached the plateau.
const GAIN_MOST: f64 = 0.10;
/// Resamples for the interval.
const RESAMPLES: usize = 500;

/// The knee of `points`, in any order.
///
/// # Errors
/// Why there is no knee.
pub fn knee(points: &[LoadPoint], seed: u64) -> Result<Knee, NoKnee> {
    let mut points: Vec<&LoadPoint> =
        points.iter().filter(|point| point.load > 0.0 && median(&point.rates) > 0.0).collect();
    iosonde_base::sort_by(&mut points, |a, b| a.load.total_cmp(&b.load));
    if points.len() < 3 {
        return Err(NoKnee::TooFewLoads);
    }
    let curve: Vec<(f64, f64)> =
        points.iter().map(|point| (point.load, median(&point.rates))).collect();
    let bounds = LoadBounds::of(&curve).ok_or(NoKnee::NoSmallLoad)?;
    let (last, gain) = last_doubling(&curve);
    if gain > GAIN_MOST {
        if rounds_overlap(&points) {
            return Err(NoKnee::Overlaps { load: last, gain });
        }
        return Err(NoKnee::StillGrows { load: last, gain });
    }
    let power = curve.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b))).map_or(0.0, |one| one.0);
    if (position(&curve, bounds.load()) - position(&curve, power)).abs() > 1.0 {
        return Err(NoKnee::Unclear { bounds: bounds.load(), power });
    }
    Ok(Knee {
        load: bounds.load(),
        interval: interval(&points, seed),
        rate_most: bounds.rate_most,
        seconds_least: bounds.seconds_least,
    })
}

/// Kleinrock's power: the rate over the time an operation takes.
fn ratio(&(load, rate): &(f64, f64)) -> f64 {
    rate * rate / load
}

/// The two asymptotes.
struct LoadBounds {
    rate_most: f64,
    seconds_least: f64,
}

impl LoadBounds {
    fn of(curve: &[(f64, f64)]) -> Option<LoadBounds> {
        let small = curve.iter().filter(|(load, _)| *load <= SMALL_LOAD);
        let seconds_least = small.map(|(load, rate)| load / rate).min_by(f64::total_cmp)?;
        let rate_most = curve.iter().map(|one| one.1).max_by(f64::total_cmp)?;
        Some(LoadBounds { rate_most, seconds_least })
    }

    fn load(&self) -> f64 {
        self.rate_most * self.seconds_least
    }
}

/// The largest load, and what the last doubling up to it gained.
fn last_doubling(curve: &[(f64, f64)]) -> (f64, f64) {
    let &(last, rate) = curve.last().expect("a curve has three points");
    let before = curve.iter().rev().find(|(load, _)| *load <= last / 2.0).unwrap_or(&curve[0]);
    let doublings = (last / before.0).log2();
    (last, (rate / before.1).powf(1.0 / doublings.max(1e-9)) - 1.0)
}

/// Whether a round at the largest load was no faster than one at half of it.
fn rounds_overlap(points: &[&LoadPoint]) -> bool {
    let Some(last) = points.last() else { return false };
    let before = points.iter().rev().find(|point| point.load <= last.load / 2.0);
    let before = before.unwrap_or(&points[0]);
    let least = last.rates.iter().copied().reduce(f64::min);
    let most = before.rates.iter().copied().reduce(f64::max);
    last.rates.len() > 1 && least <= most
}

/// Where a load lies among those of the curve: 1.5 is between the second and
/// the third.
fn position(curve: &[(f64, f64)], load: f64) -> f64 {
    let after = curve.iter().position(|one| one.0 >= load).unwrap_or(curve.len() - 1);
    if after == 0 {
        return 0.0;
    }
    let (low, high) = (curve[after - 1].0, curve[after].0);
    (after - 1) as f64 + (load / low).ln() / (high / low).ln()
}

/// The 95 % interval of N*, by taking rounds with replacement.
fn interval(points: &[&LoadPoint], seed: u64) -> Option<(f64, f64)> {
    let rounds = points.iter().map(|point| point.rates.len()).min().filter(|&rounds| rounds > 1)?;
    let mut random = SeededRandom::new(seed, 0x6b6e_6565);
    let mut found: Vec<f64> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let taken: Vec<usize> = (0..rounds).map(|_| random.below(rounds)).collect();
        let curve: Vec<(f64, f64)> = points
            .iter()
            .map(|point| {
                let rates: Vec<f64> = taken.iter().map(|&round| point.rates[round]).collect();
                (point.load, median(&rates))
            })
            .collect();
        found.extend(LoadBounds::of(&curve).map(|bounds| bounds.load()));
    }
    found.sort_by(f64::total_cmp);
    let at = |share: f64| found[((found.len() - 1) as f64 * share) as usize];
    Some((at(0.025), at(0.975)))
}

/// One asked-for rate of an open loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacedPoint {
    /// The rate that the job was asked to keep.
    pub requested: f64,
    /// The rate that it had.
    pub completed: f64,
    /// Its p99, in nanoseconds.
    pub p99_ns: f64,
}

/// The highest rate that was kept to 99 %, with a p99 of at most twice that
/// of the lowest rate; `None` if the lowest was not kept. Rates above the
/// first that fails do not count, whatever they show.
pub fn paced_knee(points: &[PacedPoint]) -> Option<f64> {
    let mut points: Vec<&PacedPoint> = points.iter().collect();
    iosonde_base::sort_by(&mut points, |a, b| a.requested.total_cmp(&b.requested));
    let calm = points.first()?.p99_ns;
    let is_kept = |point: &&&PacedPoint| {
        point.completed >= 0.99 * point.requested && point.p99_ns <= 2.0 * calm
    };
    points.iter().take_while(is_kept).last().map(|point| point.requested)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(rate: impl Fn(f64) -> f64) -> Vec<LoadPoint> {
        (0..9)
            .map(|power| f64::from(1 << power))
            .map(|load| LoadPoint { load, rates: vec![rate(load); 3] })
            .collect()
    }

    #[test]
    fn a_sharp_saturation_has_its_knee_where_it_is() {
        for truth in [1.0, 6.0, 24.0, 96.0] {
            let found = knee(&points(|load| load.min(truth) * 1000.0), 1).unwrap();
            assert!((found.load - truth).abs() < 1e-9, "{truth}: {found:?}");
            assert_eq!(found.interval, Some((found.load, found.load)));
        }
    }

    #[test]
    fn rounds_that_overlap_show_neither_a_knee_nor_growth() {
        let point = |load: f64, rates: &[f64]| LoadPoint { load, rates: rates.to_vec() };
        let few = |last: &[f64]| {
            let points = [
                point(1.0, &[100.0, 101.0, 99.0]),
                point(4.0, &[380.0, 400.0, 390.0]),
                point(16.0, &[395.0, 450.0, 612.0]),
                point(32.0, last),
            ];
            knee(&points, 1)
        };
        let found = few(&[251.0, 522.0, 566.0]);
        assert!(matches!(found, Err(NoKnee::Overlaps { load: 32.0, gain }) if gain > 0.1));
        assert!(matches!(few(&[700.0, 720.0, 710.0]), Err(NoKnee::StillGrows { .. })));
        assert!(matches!(few(&[522.0]), Err(NoKnee::StillGrows { .. })), "one round has no spread");
    }

    #[test]
    fn a_rate_that_grows_to_the_end_has_no_knee() {
        let straight = knee(&points(|load| load * 1000.0), 1);
        assert!(matches!(straight, Err(NoKnee::StillGrows { load: 256.0, gain }) if gain > 0.9));
        let slow = knee(&points(|load| load.powf(0.3)), 1);
        assert!(matches!(slow, Err(NoKnee::StillGrows { .. })), "{slow:?}");
    }

    #[test]
    fn a_rate_that_falls_after_its_peak_has_a_knee() {
        let falls = |load: f64| if load <= 16.0 { load } else { 16.0 * (16.0 / load).sqrt() };
        assert_eq!(knee(&points(falls), 1).unwrap().load, 16.0);
    }

    #[test]
    fn loads_that_cannot_show_a_knee_say_so() {
        let all = points(|load| load.min(24.0));
        assert_eq!(knee(&all[..2], 1), Err(NoKnee::TooFewLoads));
        assert_eq!(knee(&all[4..], 1), Err(NoKnee::NoSmallLoad));
        let still = [LoadPoint { load: 1.0, rates: vec![0.0] }];
        assert_eq!(knee(&still, 1), Err(NoKnee::TooFewLoads));
    }

    #[test]
    fn the_knee_of_rates_is_the_last_that_was_kept_in_time() {
        let point = |requested, completed, p99_ns| PacedPoint { requested, completed, p99_ns };
        let mut all = vec![point(10.0, 10.0, 1.0), point(20.0, 20.0, 1.5), point(30.0, 29.9, 1.9)];
        assert_eq!(paced_knee(&all), Some(30.0));
        all.push(point(40.0, 40.0, 2.1));
        all.push(point(50.0, 50.0, 1.0));
        assert_eq!(paced_knee(&all), Some(30.0));
        assert_eq!(paced_knee(&[point(10.0, 9.0, 1.0)]), None);
        assert_eq!(paced_knee(&[]), None);
    }
}
