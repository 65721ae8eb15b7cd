//! A difference of logarithms, and how sure it is.

use crate::ALPHA;
use crate::sample::{squares, standard_deviation};
use crate::student::{t_quantile, two_sided_p};
use iosonde_base::mean;

/// A mean of log ratios with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean: ln(B / A).
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of that error.
    pub freedom: f64,
}

/// Where a difference lies, with the confidence that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl ConfidenceInterval {
    /// Whether it leaves out 0.
    pub fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Whether all of it is nearer to 0 than `bound`.
    pub(crate) fn lies_within(&self, bound: f64) -> bool {
        self.low > -bound && self.high < bound
    }
}

/// The share of differences of the stated size that are found.
const POWER: f64 = 0.80;

impl Estimate {
    /// Of pairs, each the logarithm of B over A. `None` of fewer than two.
    pub fn paired(differences: &[f64]) -> Option<Estimate> {
        let n = differences.len();
        (n >= 2).then(|| Estimate {
            mean: mean(differences),
            standard_error: standard_deviation(differences) / (n as f64).sqrt(),
            freedom: (n - 1) as f64,
        })
    }

    /// Of pairs without the least and the largest (Tukey and McLaughlin's
    /// trimmed t): sees more where single runs fall out, less elsewhere.
    /// `None` of fewer than eight, where trimming costs too much.
    pub fn paired_trimmed(differences: &[f64]) -> Option<Estimate> {
        let n = differences.len();
        if n < 8 {
            return None;
        }
        let mut sorted = differences.to_vec();
        sorted.sort_by(f64::total_cmp);
        let kept = &sorted[1..n - 1];
        let mut winsorized = sorted.clone();
        (winsorized[0], winsorized[n - 1]) = (kept[0], kept[kept.len() - 1]);
        let h = kept.len() as f64;
        Some(Estimate {
            mean: mean(kept),
            standard_error: (squares(&winsorized) / (h * (h - 1.0))).sqrt(),
            freedom: h - 1.0,
        })
    }

    /// Of two groups that were not run in pairs, as logarithms (Welch).
    /// `None` if one has fewer than two.
    pub fn unpaired(a: &[f64], b: &[f64]) -> Option<Estimate> {
        if a.len() < 2 || b.len() < 2 {
            return None;
        }
        let share = |values: &[f64]| {
            let n = values.len() as f64;
            let error = standard_deviation(values).powi(2) / n;
            (error, error.powi(2) / (n - 1.0))
        };
        let ((error_a, part_a), (error_b, part_b)) = (share(a), share(b));
        let parts = part_a + part_b;
        let pooled = (a.len() + b.len() - 2) as f64;
        Some(Estimate {
            mean: mean(b) - mean(a),
            standard_error: (error_a + error_b).sqrt(),
            freedom: if parts > 0.0 { (error_a + error_b).powi(2) / parts } else { pooled },
        })
    }

    /// Of a session against earlier sessions, as logarithms: a prediction
    /// interval, because sessions differ by more than their runs do. `None`
    /// of fewer than 5 sessions.
    pub fn against_sessions(earlier: &[f64], session: f64) -> Option<Estimate> {
        let n = earlier.len();
        (n >= Estimate::SESSIONS_LEAST).then(|| Estimate {
            mean: session - mean(earlier),
            standard_error: standard_deviation(earlier) * (1.0 + 1.0 / n as f64).sqrt(),
            freedom: (n - 1) as f64,
        })
    }

    /// Fewer earlier sessions do not show how much sessions differ.
    pub(crate) const SESSIONS_LEAST: usize = 5;

    /// Of one run a side, where the scatter of a run is known (a standard
    /// deviation of logarithms).
    pub fn single(difference: f64, noise: f64) -> Estimate {
        Estimate {
            mean: difference,
            standard_error: noise * std::f64::consts::SQRT_2,
            // The normal distribution, as near as matters.
            freedom: 1e6,
        }
    }

    /// The interval with confidence 1 - `alpha`.
    pub fn interval(&self, alpha: f64) -> ConfidenceInterval {
        let reach = match self.standard_error {
            0.0 => 0.0,
            error => error * t_quantile(1.0 - alpha / 2.0, self.freedom),
        };
        ConfidenceInterval { low: self.mean - reach, high: self.mean + reach }
    }

    /// The probability of so large a difference between equals.
    pub fn p_value(&self) -> f64 {
        match (self.standard_error, self.mean) {
            (0.0, 0.0) => 1.0,
            (0.0, _) => 0.0,
            (error, mean) => two_sided_p(mean / error, self.freedom),
        }
    }

    /// The least difference that is found in four of five comparisons like
    /// this one, as a logarithm.
    pub fn detectable(&self, alpha: f64) -> f64 {
        match self.standard_error {
            0.0 => 0.0,
            error => error * both_quantiles(alpha, self.freedom),
        }
    }
}

fn both_quantiles(alpha: f64, freedom: f64) -> f64 {
    t_quantile(1.0 - alpha / 2.0, freedom) + t_quantile(POWER, freedom)
}

/// More pairs than these nobody runs.
const PAIRS_MOST: usize = 10_000;

/// How many pairs find a difference of `bound` (a logarithm) in four of five
/// comparisons, where differences of pairs scatter by `scatter`; `None` where
/// no reasonable number does.
pub fn pairs_needed(scatter: f64, bound: f64) -> Option<usize> {
    let detectable = |n: usize| both_quantiles(ALPHA, (n - 1) as f64) * scatter / (n as f64).sqrt();
    if detectable(PAIRS_MOST) > bound {
        return None;
    }
    let (mut too_few, mut enough) = (1, PAIRS_MOST);
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        if detectable(middle) > bound { too_few = middle } else { enough = middle }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_runs_give_no_estimate() {
        assert_eq!(Estimate::paired(&[0.1]), None);
        assert_eq!(Estimate::unpaired(&[0.1], &[0.1, 0.2]), None);
        assert_eq!(Estimate::paired_trimmed(&[0.1; 7]), None);
        assert_eq!(Estimate::against_sessions(&[0.1; 4], 0.1), None);
    }

    #[test]
    fn runs_without_scatter_are_sure() {
        let same = Estimate::paired(&[0.0; 5]).unwrap();
        assert_eq!((same.p_value(), same.detectable(0.05)), (1.0, 0.0));
        let other = Estimate::paired(&[0.5; 5]).unwrap();
        assert_eq!(other.p_value(), 0.0);
        assert!(other.interval(0.05).excludes_zero());
    }

    #[test]
    fn the_detectable_difference_is_the_designs() {
        // Scatter of a run of 4 %: 9.9 % at 5 pairs, 5.8 % at 10, 3.8 % at 20.
        for (pairs, percent) in [(5, 9.9), (10, 5.8), (20, 3.8)] {
            let root = (pairs as f64).sqrt();
            let estimate = Estimate {
                mean: 0.0,
                standard_error: 0.04 * std::f64::consts::SQRT_2 / root,
                freedom: (pairs - 1) as f64,
            };
            let found = (estimate.detectable(ALPHA).exp() - 1.0) * 100.0;
            assert!((found - percent).abs() < 0.1, "{pairs}: {found}");
        }
    }

    #[test]
    fn the_pairs_needed_are_the_first_that_suffice() {
        let scatter = 0.04 * std::f64::consts::SQRT_2;
        let needed = pairs_needed(scatter, 1.05f64.ln()).unwrap();
        let reach = |n: usize| both_quantiles(ALPHA, (n - 1) as f64) * scatter / (n as f64).sqrt();
        assert!(reach(needed) <= 1.05f64.ln() && reach(needed - 1) > 1.05f64.ln(), "{needed}");
        assert_eq!(pairs_needed(0.0, 0.05), Some(2));
        assert_eq!(pairs_needed(10.0, 0.01), None);
    }

    #[test]
    fn trimming_sees_past_single_runs_that_fall_out() {
        let differences = [0.10, 0.11, 0.09, 0.10, 0.12, 0.08, 0.10, -0.60];
        let plain = Estimate::paired(&differences).unwrap();
        let trimmed = Estimate::paired_trimmed(&differences).unwrap();
        assert!(!plain.interval(ALPHA).excludes_zero());
        assert!(trimmed.interval(ALPHA).excludes_zero());
    }
}
