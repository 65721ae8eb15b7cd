//! Whether B may pass: for CI.

use super::comparison::{JudgedFigure, RunDesign, SideComparison};
use crate::trials::figures::BetterWhen;
use iosonde_judge::{ALPHA, Margin};

/// The result of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateResult {
    /// B is not worse by the margin.
    Passed,
    /// B is worse by the margin, with confidence.
    Broken,
    /// Neither is shown.
    Undecided,
}

impl GateResult {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            GateResult::Passed => "passed",
            GateResult::Broken => "broken",
            GateResult::Undecided => "cannot tell",
        }
    }
}

/// Judge the deciding figure against `margin`. Results that were not
/// interleaved do not decide unless a drift is accepted.
pub fn judge(comparison: &SideComparison, margin: Margin, accept_drift: bool) -> GateResult {
    let is_loose = comparison.design == RunDesign::Unordered && !accept_drift;
    if comparison.is_unreliable || is_loose {
        GateResult::Undecided
    } else {
        judge_figure(comparison.primary(), comparison, margin)
    }
}

fn judge_figure(figure: &JudgedFigure, comparison: &SideComparison, margin: Margin) -> GateResult {
    let Some(judged) = figure.judged else { return GateResult::Undecided };
    let alpha = match comparison.design {
        RunDesign::Pairs { alpha, .. } => alpha,
        _ => ALPHA,
    };
    // How much worse B is, as a logarithm.
    let worse = |difference: f64| match figure.figure.better() {
        BetterWhen::Higher => -difference,
        BetterWhen::Lower => difference,
    };
    let sure = judged.interval;
    if worse(judged.estimate.mean) >= margin.ln() && sure.excludes_zero() {
        return GateResult::Broken;
    }
    // One-sided: only how much worse it may be counts.
    let wide = judged.estimate.interval(2.0 * alpha);
    let most = worse(wide.low).max(worse(wide.high));
    if most < margin.ln() { GateResult::Passed } else { GateResult::Undecided }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::tests::compared;
    use super::*;

    fn gate(ratio: f64, scatter: f64) -> GateResult {
        judge(&compared(ratio, scatter), Margin::of_ratio(0.05), false)
    }

    #[test]
    fn a_gate_breaks_with_confidence_only() {
        assert_eq!(gate(0.90, 0.01), GateResult::Broken);
        assert_eq!(gate(1.00, 0.01), GateResult::Passed);
        assert_eq!(gate(1.20, 0.01), GateResult::Passed);
        assert_eq!(gate(0.90, 0.30), GateResult::Undecided);
        assert_eq!(gate(0.96, 0.05), GateResult::Undecided);
    }
}
