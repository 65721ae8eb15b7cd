//! From values to places in a drawing, and the values that axes name.

/// From values to places, linear or logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    is_log: bool,
}

impl Scale {
    /// Equal steps for equal differences.
    pub fn linear(low: f64, high: f64, start: f64, end: f64) -> Scale {
        Scale { low, high: if high > low { high } else { low + 1.0 }, start, end, is_log: false }
    }

    /// Equal steps for equal ratios; values above zero.
    pub fn log(low: f64, high: f64, start: f64, end: f64) -> Scale {
        let low = low.max(f64::MIN_POSITIVE);
        Scale { low, high: if high > low { high } else { low * 2.0 }, start, end, is_log: true }
    }

    /// The place of a value; one that is outside lies on the border.
    pub fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.start + share * (self.end - self.start)
    }

    /// The smallest value.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// Where the smallest value lies, and the largest.
    pub fn ends(&self) -> (f64, f64) {
        (self.start, self.end)
    }

    /// The largest value.
    pub fn high(&self) -> f64 {
        self.high
    }
}

/// Round values from 0 to `most`, in steps of 1, 2 or 5: four to six of them.
/// The last is not below `most`.
pub(crate) fn ticks(most: f64) -> Vec<f64> {
    if !(most > 0.0 && most.is_finite()) {
        return vec![0.0, 1.0];
    }
    let power = 10f64.powf((most / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = step.into_iter().find(|step| most / step <= 5.0).unwrap_or(power * 10.0);
    let count = (most / step).ceil() as usize;
    (0..=count).map(|at| at as f64 * step).collect()
}

/// As [`ticks`], round in powers of 1024: for bytes.
pub(crate) fn byte_ticks(most: f64) -> Vec<f64> {
    let mut unit = 1.0;
    while most / unit >= 1024.0 {
        unit *= 1024.0;
    }
    // Within a unit 1000 and more are not round to 1024: 250, 500 ... are.
    ticks(most / unit).into_iter().map(|tick| tick * unit).collect()
}

/// 1, 10, 100 ... within two values, the borders of whole decades around them.
pub(crate) fn decades(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.max(1.0).log10().floor() as i32, high.max(1.0).log10().ceil() as i32);
    (first..=last.max(first + 1)).map(|power| 10f64.powi(power)).collect()
}

/// Values that a logarithmic axis names at most.
const TICKS_MOST: usize = 7;

/// Round values within two, for a logarithmic scale: powers of ten with 2 and
/// 5, or as many more or fewer as make about seven; powers of two where
/// `is_binary`.
pub(crate) fn log_ticks(low: f64, high: f64, is_binary: bool) -> Vec<f64> {
    let (low, high) = (low.max(1e-9), high.max(low.max(1e-9)));
    let within = |values: Vec<f64>| -> Vec<f64> {
        values
            .into_iter()
            .filter(|&value| value >= low * 0.999_999 && value <= high * 1.000_001)
            .collect()
    };
    let powers = |base: f64, step: i32, factors: &[f64]| -> Vec<f64> {
        let first = (low.ln() / base.ln()).floor() as i32;
        let last = (high.ln() / base.ln()).ceil() as i32;
        let all = (first..=last).filter(|power| power.rem_euclid(step) == 0);
        within(
            all.flat_map(|power| factors.iter().map(move |factor| base.powi(power) * factor))
                .collect(),
        )
    };
    let tries: Vec<Vec<f64>> = if is_binary {
        (1..=20).map(|step| powers(2.0, step, &[1.0])).collect()
    } else {
        let factors: [&[f64]; 5] = [
            &[1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 3.0],
            &[1.0],
        ];
        let dense = factors.map(|factors| powers(10.0, 1, factors));
        dense.into_iter().chain((2..=6).map(|step| powers(10.0, step, &[1.0]))).collect()
    };
    tries
        .iter()
        .find(|ticks| ticks.len() <= TICKS_MOST)
        .or(tries.last())
        .cloned()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_round_and_reach_the_largest_value() {
        for most in [0.001, 0.7, 1.0, 3.3, 9.99, 12.0, 47.0, 5e9] {
            let ticks = ticks(most);
            assert!((3..=7).contains(&ticks.len()), "{most}: {ticks:?}");
            assert!(ticks[0] == 0.0 && *ticks.last().unwrap() >= most * 0.999_999, "{most}");
        }
        assert_eq!(ticks(9.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(byte_ticks(2.0 * 1024.0 * 1024.0)[1], 0.5 * 1024.0 * 1024.0);
        assert_eq!(ticks(0.0), [0.0, 1.0]);
        assert_eq!(decades(90.0, 1500.0), [10.0, 100.0, 1000.0, 10_000.0]);
    }

    #[test]
    fn ticks_of_a_logarithmic_scale_are_round_and_few() {
        assert_eq!(
            log_ticks(80.0, 1200.0, false),
            [100.0, 150.0, 200.0, 300.0, 500.0, 700.0, 1000.0]
        );
        assert_eq!(log_ticks(80.0, 2500.0, false), [100.0, 200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(log_ticks(2.8e6, 6.4e6, false), [3e6, 4e6, 5e6, 6e6]);
        assert_eq!(log_ticks(1e3, 1e8, false), [1e3, 1e4, 1e5, 1e6, 1e7, 1e8]);
        assert_eq!(log_ticks(1024.0, 9000.0, true), [1024.0, 2048.0, 4096.0, 8192.0]);
        assert!(log_ticks(0.0, 1e30, false).len() <= 12);
    }

    #[test]
    fn places_lie_within_the_drawing() {
        let log = Scale::log(1.0, 1000.0, 100.0, 10.0);
        assert_eq!((log.at(1.0), log.at(1000.0)), (100.0, 10.0));
        assert!((log.at(31.622_776).round() - 55.0).abs() < 1.0);
        assert_eq!(log.at(1e9), 10.0);
        let linear = Scale::linear(0.0, 0.0, 0.0, 10.0);
        assert!(linear.at(0.0).is_finite());
    }
}
