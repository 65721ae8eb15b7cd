//! The three decisions: differs, the same within the margin, cannot tell.

use crate::estimate::{ConfidenceInterval, Estimate};
use crate::holm;

/// The difference that matters, as a logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin(f64);

impl Margin {
    /// Of a ratio: 0.05 is 5 %.
    pub fn of_ratio(ratio: f64) -> Margin {
        Margin((1.0 + ratio.abs()).ln())
    }

    /// As a logarithm.
    pub fn ln(self) -> f64 {
        self.0
    }

    /// As a ratio: 0.05 is 5 %.
    pub fn ratio(self) -> f64 {
        self.0.exp() - 1.0
    }
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// There is a difference, and it is at least the margin.
    Differs,
    /// The difference, if there is one, is less than the margin.
    Same,
    /// Neither is shown.
    CannotTell,
}

/// Judge an estimate: it differs if the interval leaves out 0 and the estimate
/// reaches the margin; it is the same if two one-sided tests put it inside.
pub fn decide(estimate: &Estimate, margin: Margin, alpha: f64) -> Decision {
    decide_with(estimate, margin, alpha, estimate.interval(alpha).excludes_zero())
}

fn decide_with(estimate: &Estimate, margin: Margin, alpha: f64, is_shown: bool) -> Decision {
    if is_shown && estimate.mean.abs() >= margin.ln() {
        return Decision::Differs;
    }
    if estimate.interval(2.0 * alpha).lies_within(margin.ln()) {
        Decision::Same
    } else {
        Decision::CannotTell
    }
}

/// One of several metrics of the same runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedMetric {
    /// Its estimate.
    pub estimate: Estimate,
    /// The interval at the level of this look, for this metric alone.
    pub interval: ConfidenceInterval,
    /// Its probability, adjusted for the number of metrics (Holm).
    pub adjusted_p: f64,
    /// What it shows.
    pub decision: Decision,
}

/// Judge all metrics of the same runs. The primary one, chosen before the
/// runs, is judged by itself; of the others one differs only if its adjusted
/// probability is below `alpha`, so that eight metrics do not find a
/// difference by their number.
pub fn judge_metrics(
    estimates: &[Estimate],
    primary: Option<usize>,
    margin: Margin,
    alpha: f64,
) -> Vec<JudgedMetric> {
    let single: Vec<f64> = estimates.iter().map(Estimate::p_value).collect();
    let judged = estimates.iter().zip(holm::adjusted(&single)).enumerate();
    judged
        .map(|(at, (estimate, adjusted_p))| {
            let interval = estimate.interval(alpha);
            let is_shown =
                if primary == Some(at) { interval.excludes_zero() } else { adjusted_p < alpha };
            let decision = decide_with(estimate, margin, alpha, is_shown);
            JudgedMetric { estimate: *estimate, interval, adjusted_p, decision }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, standard_error: f64) -> Estimate {
        Estimate { mean, standard_error, freedom: 9.0 }
    }

    #[test]
    fn a_difference_below_the_margin_is_no_difference() {
        let margin = Margin::of_ratio(0.05);
        let decided = |mean, error| decide(&estimate(mean, error), margin, 0.05);
        assert_eq!(decided(0.10, 0.01), Decision::Differs);
        assert_eq!(decided(-0.10, 0.01), Decision::Differs);
        assert_eq!(decided(0.02, 0.005), Decision::Same, "shown, and too small to matter");
        assert_eq!(decided(0.04, 0.01), Decision::CannotTell);
        assert_eq!(decided(0.10, 0.10), Decision::CannotTell);
        assert_eq!(decided(0.0, 0.0), Decision::Same);
    }

    #[test]
    fn the_others_pay_for_their_number_and_the_primary_does_not() {
        // t of 2.6 at 9 degrees: p of 0.029.
        let estimates = vec![estimate(0.13, 0.05); 4];
        let judged = judge_metrics(&estimates, Some(0), Margin::of_ratio(0.05), 0.05);
        assert_eq!(judged[0].decision, Decision::Differs);
        assert!(judged[1..].iter().all(|metric| metric.decision == Decision::CannotTell));
    }

    #[test]
    fn a_margin_reads_back_as_it_was_given() {
        assert!((Margin::of_ratio(0.05).ratio() - 0.05).abs() < 1e-12);
    }
}
