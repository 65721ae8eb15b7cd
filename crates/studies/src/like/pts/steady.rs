//! When a drive is in the steady state of SNIA's Performance Test Specification:
//! over the last five rounds the tracked figure stays within 20 % of its mean,
//! and its best-fit line rises or falls by at most 10 % of it.

/// Rounds that are looked at.
pub const WINDOW: usize = 5;
/// The most that values may differ, of their mean.
const RANGE_MOST: f64 = 0.2;
/// The most that the best-fit line may rise or fall over the window, of the mean.
const SLOPE_MOST: f64 = 0.1;

/// The last rounds of a test, judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PtsWindow {
    /// The mean of the tracked figure.
    pub mean: f64,
    /// Largest less smallest.
    pub range: f64,
    /// What the best-fit line gains from the first to the last round.
    pub slope: f64,
    /// Its value at the first round of the window.
    pub start: f64,
}

impl PtsWindow {
    /// Of the last rounds; `None` where there are fewer than five.
    pub fn of(tracked: &[f64]) -> Option<PtsWindow> {
        let window = tracked.get(tracked.len().checked_sub(WINDOW)?..)?;
        let n = WINDOW as f64;
        let mean = window.iter().sum::<f64>() / n;
        let middle = (n - 1.0) / 2.0;
        let places = || (0..WINDOW).map(|at| at as f64 - middle);
        let gain = places().zip(window).map(|(place, value)| place * (value - mean)).sum::<f64>()
            / places().map(|place| place * place).sum::<f64>();
        let most = window.iter().copied().fold(f64::MIN, f64::max);
        let least = window.iter().copied().fold(f64::MAX, f64::min);
        let slope = gain * (n - 1.0);
        Some(PtsWindow { mean, range: most - least, slope, start: mean - gain * middle })
    }

    /// Whether the state is steady.
    pub fn is_steady(&self) -> bool {
        self.mean > 0.0
            && self.range <= RANGE_MOST * self.mean
            && self.slope.abs() <= SLOPE_MOST * self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_steady(tracked: &[f64]) -> bool {
        PtsWindow::of(tracked).is_some_and(|window| window.is_steady())
    }

    #[test]
    fn five_rounds_within_range_and_slope_are_steady() {
        assert!(is_steady(&[900.0, 100.0, 100.0, 100.0, 100.0, 100.0]));
        assert!(!is_steady(&[100.0; 4]), "too few rounds");
        // Range 20 % and a little more, without slope.
        assert!(is_steady(&[100.0, 90.0, 110.0, 90.0, 110.0].map(|value| value)));
        assert!(!is_steady(&[100.0, 89.0, 111.0, 89.0, 111.0]));
        // A slope of 10 % and a little more.
        assert!(is_steady(&[95.0, 97.5, 100.0, 102.5, 105.0]));
        assert!(!is_steady(&[94.9, 97.4, 100.0, 102.6, 105.1]));
        assert!(!is_steady(&[0.0; 5]));
    }

    #[test]
    fn the_best_fit_line_is_that_of_the_window() {
        let window = PtsWindow::of(&[7.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((window.mean, window.range, window.slope, window.start), (3.0, 4.0, 4.0, 1.0));
    }
}
