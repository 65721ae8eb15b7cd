//! The median of few samples, and how far it can be trusted.

use iosonde_base::median;

/// Fewer samples than this say nothing with this confidence: all of five lie on
/// one side of the true median in 1 of 16 cases.
pub const SAMPLES_LEAST: usize = 6;

/// A median and the interval that holds the true one with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// The middle sample, or the mean of the two in the middle.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// There were enough samples for the interval to be one of 95 %; if not,
    /// it is that of all samples.
    pub enough: bool,
}

impl Median {
    /// Of some samples; `None` of none.
    ///
    /// The interval is that of order statistics: whatever the samples'
    /// distribution, each lies below the true median with probability 1/2, so
    /// the number that do is binomial, and the k-th smallest and k-th largest
    /// enclose the median with probability 1 - 2 P(fewer than k below).
    pub fn of(samples: &[f64]) -> Option<Median> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        if count == 0 {
            return None;
        }
        let cut = cut(count);
        let k = cut.unwrap_or(0);
        Some(Median {
            value: median(&sorted),
            low: sorted[k],
            high: sorted[count - 1 - k],
            enough: cut.is_some(),
        })
    }

    /// Whether the true median is known within this share of it, either way.
    pub fn is_within(&self, share: f64) -> bool {
        let room = self.value * share;
        self.enough && self.high - self.value <= room && self.value - self.low <= room
    }
}

/// How many samples may be cut off at either end so that the rest still
/// encloses the median in 95 of 100 cases; `None` if not even all of them do.
fn cut(count: usize) -> Option<usize> {
    const OUTSIDE_MOST: f64 = 0.05;
    let mut term = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut below = 0.0;
    let mut cut = None;
    for k in 0..count / 2 {
        below += term;
        if 2.0 * below > OUTSIDE_MOST {
            break;
        }
        cut = Some(k);
        term *= (count - k) as f64 / (k + 1) as f64;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cuts_are_those_of_the_tables_of_the_sign_test() {
        // Two-sided 5 %: Dixon and Mood, 1946: the most that may be on the rarer side.
        let expected =
            [(5, None), (6, Some(0)), (8, Some(0)), (9, Some(1)), (12, Some(2)), (20, Some(5))];
        for (count, cut_off) in expected {
            assert_eq!(cut(count), cut_off, "{count}");
        }
        assert_eq!(cut(SAMPLES_LEAST - 1), None);
        assert!(cut(SAMPLES_LEAST).is_some());
    }

    #[test]
    fn one_outlier_does_not_move_the_median() {
        let median = Median::of(&[10.0, 11.0, 9.0, 10.0, 900.0, 10.5, 9.5, 10.0, 10.0]).unwrap();
        assert_eq!(median.value, 10.0);
        assert!(median.is_within(0.10), "{median:?}");
        assert!(!median.is_within(0.01), "{median:?}");
    }

    #[test]
    fn few_samples_are_never_enough_however_alike() {
        let median = Median::of(&[5.0; 5]).unwrap();
        assert!(!median.enough && !median.is_within(0.5));
        assert!(Median::of(&[5.0; 6]).unwrap().is_within(0.01));
        assert_eq!(Median::of(&[]), None);
    }
}
