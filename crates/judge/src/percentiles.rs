//! Percentiles that lie between two modes, where a run's scatter is no noise
//! but the jump from one mode to the other.

/// More than this ratio between the ends of a percentile's own uncertainty is
/// a gap between two modes.
const CLIFF: f64 = 2.0;

/// The values on both sides, if the percentile `quantile` (0 to 1) of `count`
/// values lies on a cliff: the value at 1.96 standard errors above it is more
/// than twice that below. `value_at` gives the value of a quantile.
pub fn cliff(value_at: impl Fn(f64) -> f64, quantile: f64, count: u64) -> Option<(f64, f64)> {
    if count == 0 {
        return None;
    }
    let error = 1.96 * (quantile * (1.0 - quantile) / count as f64).sqrt();
    let low = value_at((quantile - error).max(0.0));
    let high = value_at((quantile + error).min(1.0));
    (low > 0.0 && high / low > CLIFF).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_between_two_modes_is_on_a_cliff() {
        let two_modes = |quantile: f64| if quantile < 0.99 { 104.0 } else { 1100.0 };
        assert_eq!(cliff(two_modes, 0.99, 10_000), Some((104.0, 1100.0)));
        assert_eq!(cliff(two_modes, 0.5, 10_000), None);
        assert_eq!(cliff(two_modes, 0.99, 0), None);
    }
}
