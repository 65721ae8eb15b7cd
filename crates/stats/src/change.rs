//! Changes of a rate: where the mean of a series of samples moves, if it does.
//!
//! One statistic for a change of the mean of ln(rate): the squared difference
//! of the means before and after a place, in units of their variance, at the
//! place where it is largest. The variance counts that neighbouring samples
//! are alike (the first autocorrelation of what the two means leave), so that
//! slow scatter is no change. Of steady series of 120 samples that scatter by
//! 10 %, 0.2 % are flagged where neighbours are independent and 2.2 % where
//! their correlation is 0.6; a step of 30 % at an eighth of the series is found
//! in 97 %, within two samples of its place (see the tests).

use iosonde_base::{mean, median};

/// Where a rate changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeanChange {
    /// The first sample after the change.
    pub at: usize,
    /// Mean of the samples before it, since the previous change.
    pub before: f64,
    /// Mean of the samples from it on, up to the next change.
    pub after: f64,
    /// The statistic.
    pub stat: f64,
}

/// The statistic above which a change is one, from 60 samples on. Fewer
/// samples need more: their correlation is poorly known.
const STAT_LEAST: f64 = 16.0;
const SAMPLES_FULL: f64 = 60.0;
/// A change within a part is looked for in every part: it needs so many times
/// as much, so that looking often does not find more in a steady series.
const WITHIN_PART: f64 = 3.0;
/// A smaller step is not reported, however sure it is.
const STEP_LEAST: f64 = 0.05;
/// Samples without which nothing is said.
const SAMPLES_LEAST: usize = 12;
/// Samples on each side of a change: one that is far off is an outlier.
const SIDE_LEAST: usize = 3;
/// Smaller samples count as this share of the mean: nothing has no logarithm, and
/// one stall would outweigh all other scatter.
const FLOOR_SHARE: f64 = 0.2;

/// The changes of `samples`, in order; empty where they hold still, or are too
/// few to tell.
pub fn mean_changes(samples: &[f64]) -> Vec<MeanChange> {
    let floor = mean(samples) * FLOOR_SHARE;
    if floor <= 0.0 {
        return Vec::new();
    }
    let logs: Vec<f64> = samples.iter().map(|&sample| sample.max(floor).ln()).collect();
    let places = places(&logs, 1.0);
    let ends = |index: usize| places.get(index).map_or(samples.len(), |&(at, _)| at);
    let begins = |index: usize| if index == 0 { 0 } else { places[index - 1].0 };
    let change = |(index, &(at, stat)): (usize, &(usize, f64))| MeanChange {
        at,
        before: mean(&samples[begins(index)..at]),
        after: mean(&samples[at..ends(index + 1)]),
        stat,
    };
    places.iter().enumerate().map(change).collect()
}

/// The places of changes and their statistics. The parts on both sides of the
/// best split are looked at first: a change in one of them would count as
/// scatter of that part, and hide this one.
fn places(logs: &[f64], factor: f64) -> Vec<(usize, f64)> {
    if logs.len() < SAMPLES_LEAST {
        return Vec::new();
    }
    let at = best_split(logs);
    let (left, right) = logs.split_at(at);
    let mut found = places(left, WITHIN_PART);
    let after: Vec<(usize, f64)> =
        places(right, WITHIN_PART).into_iter().map(|(place, stat)| (at + place, stat)).collect();
    let begins = found.last().map_or(0, |&(place, _)| place);
    let ends = after.first().map_or(logs.len(), |&(place, _)| place);
    let mut bounds: Vec<usize> = found.iter().chain(&after).map(|&(place, _)| place).collect();
    bounds.extend([0, at, logs.len()]);
    bounds.sort_unstable();
    let stat = stat(logs, &bounds, [&logs[begins..at], &logs[at..ends]]);
    let least = STAT_LEAST * (SAMPLES_FULL / logs.len() as f64).max(1.0) * factor;
    found.extend(stat.filter(|&stat| stat > least).map(|stat| (at, stat)));
    found.extend(after);
    found
}

/// The statistic of the change between two parts that meet, with the scatter
/// of all parts about their means; `None` where the step is too small to tell.
fn stat(logs: &[f64], bounds: &[usize], sides: [&[f64]; 2]) -> Option<f64> {
    let [before, after] = sides;
    // Medians as well: one sample that is far off moves the mean of a short side.
    let step = (mean(before) - mean(after)).abs().min((median(before) - median(after)).abs());
    if step < STEP_LEAST.ln_1p() {
        return None;
    }
    let parts = bounds.windows(2).map(|pair| &logs[pair[0]..pair[1]]);
    let left: Vec<f64> = parts
        .flat_map(|part| {
            let mean = mean(part);
            part.iter().map(move |log| log - mean)
        })
        .collect();
    let squares: f64 = left.iter().map(|value| value * value).sum();
    let (one, other) = (before.len() as f64, after.len() as f64);
    let between = one * other / (one + other) * (mean(before) - mean(after)).powi(2);
    Some(if squares > 1e-12 {
        between / (squares / (logs.len() as f64 - 2.0)) / inflation(&left, squares)
    } else {
        f64::MAX
    })
}

/// The split with the largest sum of squares between the two sides.
fn best_split(logs: &[f64]) -> usize {
    let (count, total) = (logs.len() as f64, logs.iter().sum::<f64>());
    let mut best = (SIDE_LEAST, -1.0);
    let mut sum: f64 = logs[..SIDE_LEAST - 1].iter().sum();
    for at in SIDE_LEAST..=logs.len() - SIDE_LEAST {
        sum += logs[at - 1];
        let left = at as f64;
        let apart = sum / left - (total - sum) / (count - left);
        let between = left * (count - left) / count * apart * apart;
        if between > best.1 {
            best = (at, between);
        }
    }
    best.0
}

/// By how much the variance of a mean is larger than of independent samples:
/// (1 + r) / (1 - r) with the first autocorrelation, corrected for its bias
/// (Kendall 1954).
fn inflation(left: &[f64], squares: f64) -> f64 {
    let products: f64 = left.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let raw = products / squares;
    let r = (raw + (1.0 + 4.0 * raw) / left.len() as f64).clamp(0.0, 0.95);
    (1.0 + r) / (1.0 - r)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that scatter like a normal distribution, from a fixed seed.
    struct Scatter(u64);

    impl Scatter {
        fn unit(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            // Box and Muller, 1958.
            let (one, other) = (self.unit().max(1e-300), self.unit());
            (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
        }

        /// Samples about 1 that scatter by `deviation`; neighbours correlate by `phi`.
        fn series(&mut self, count: usize, phi: f64, deviation: f64) -> Vec<f64> {
            let fresh = deviation * (1.0 - phi * phi).sqrt();
            let mut at = deviation * self.normal();
            let mut samples = Vec::with_capacity(count);
            for _ in 0..count {
                samples.push((1.0 + at).max(0.01));
                at = phi * at + fresh * self.normal();
            }
            samples
        }
    }

    const SERIES: usize = 1000;

    /// In how many of a thousand series a change is found, and found near `place`.
    fn found(place: Option<usize>, make: impl Fn(&mut Scatter) -> Vec<f64>) -> (usize, usize) {
        let mut scatter = Scatter(0x9e37_79b9_7f4a_7c15);
        let (mut found, mut near) = (0, 0);
        for _ in 0..SERIES {
            let changes = mean_changes(&make(&mut scatter));
            found += usize::from(!changes.is_empty());
            let is_near = |change: &MeanChange| place.is_some_and(|at| change.at.abs_diff(at) <= 2);
            near += usize::from(changes.iter().any(is_near));
        }
        (found, near)
    }

    /// A steady series times `level` up to `place`.
    fn step(scatter: &mut Scatter, place: usize, before: f64, after: f64) -> Vec<f64> {
        let mut samples = scatter.series(120, 0.6, 0.1);
        for (at, sample) in samples.iter_mut().enumerate() {
            *sample *= if at < place { before } else { after };
        }
        samples
    }

    #[test]
    fn steady_series_are_rarely_flagged() {
        for (phi, most) in [(0.0, 10), (0.3, 15), (0.6, 30)] {
            let (flagged, _) = found(None, |scatter| scatter.series(120, phi, 0.1));
            assert!(flagged <= most, "{phi}: {flagged} of {SERIES}");
        }
        // Of short series too: their correlation is poorly known.
        for count in [16, 24, 40] {
            let (flagged, _) = found(None, |scatter| scatter.series(count, 0.6, 0.1));
            assert!(flagged <= 35, "{count} samples: {flagged} of {SERIES}");
        }
    }

    #[test]
    fn a_drop_of_30_percent_is_found_at_its_place_wherever_it_is() {
        for place in [14, 60, 106] {
            let (flagged, near) = found(Some(place), |scatter| step(scatter, place, 1.0, 0.7));
            assert!(flagged >= 950 && near * 100 >= flagged * 94, "{place}: {flagged}, {near}");
        }
    }

    #[test]
    fn a_warm_up_at_half_the_rate_is_found() {
        let (flagged, near) = found(Some(20), |scatter| step(scatter, 20, 0.5, 1.0));
        assert!(flagged >= 990 && near >= 950, "{flagged}, {near}");
    }

    #[test]
    fn both_levels_of_each_of_several_changes_are_told() {
        let levels = |levels: [u32; 3]| -> Vec<f64> {
            (0..60usize).map(|at| f64::from(levels[at / 20] + at as u32 % 2)).collect()
        };
        for (three, means) in [
            ([100, 50, 80], [100.5, 50.5, 80.5]),
            ([100, 50, 20], [100.5, 50.5, 20.5]),
            ([50, 100, 50], [50.5, 100.5, 50.5]),
        ] {
            let changes = mean_changes(&levels(three));
            let found: Vec<_> =
                changes.iter().map(|change| (change.at, change.before, change.after)).collect();
            assert_eq!(found, [(20, means[0], means[1]), (40, means[1], means[2])], "{three:?}");
        }
    }

    #[test]
    fn a_stall_does_not_hide_a_change() {
        // A device that was throttled to a quarter, with a pause in between.
        let samples: Vec<f64> = (0..24)
            .map(|at| if at < 11 { 33.0 + f64::from(at % 3) } else { 8.0 + f64::from(at % 2) })
            .enumerate()
            .map(|(at, sample)| if at == 12 { 0.0 } else { sample })
            .collect();
        let changes = mean_changes(&samples);
        assert!(changes.iter().any(|change| change.at.abs_diff(11) <= 1), "{changes:?}");
    }

    #[test]
    fn what_cannot_tell_anything_is_no_change() {
        assert_eq!(mean_changes(&[]), []);
        assert_eq!(mean_changes(&[1.0, 9.0, 1.0]), []);
        assert_eq!(mean_changes(&[0.0; 100]), []);
        assert_eq!(mean_changes(&[5.0; 100]), []);
        // One sample that is far off is an outlier.
        for at in [50, 98] {
            let mut samples = vec![5.0; 100];
            samples[at] = 0.0;
            assert_eq!(mean_changes(&samples), []);
        }
    }
}
