//! Scatter of a few numbers.

use iosonde_base::{mean, median};

/// The mean of logarithms, as a figure again; 0 of nothing.
pub fn geometric_mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        mean(&values.iter().map(|value| value.ln()).collect::<Vec<f64>>()).exp()
    }
}

/// The sum of squared distances from the mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum()
}

/// The standard deviation of a sample (n - 1); 0 of fewer than two values.
pub fn standard_deviation(values: &[f64]) -> f64 {
    match values.len() {
        0 | 1 => 0.0,
        n => (squares(values) / (n - 1) as f64).sqrt(),
    }
}

/// Farther from the median than this many median absolute deviations is an
/// outlier: ten standard deviations of a normal sample. hyperfine's bound.
const FAR_MADS: f64 = 14.826;

/// The places of values that lie far outside the others. They are named and
/// kept: dropping them would make the rest look steadier than the device is.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let centre = median(values);
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let spread = median(&distances);
    let is_far = |distance: f64| spread > 0.0 && distance > FAR_MADS * spread;
    (0..values.len()).filter(|&at| is_far(distances[at])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_far_value_is_named_and_scatter_is_not() {
        assert_eq!(outliers(&[1.0, 1.1, 0.9, 1.05, 9.0]), [4]);
        assert!(outliers(&[1.0, 1.1, 0.9, 1.05, 1.4]).is_empty());
        assert!(outliers(&[1.0, 1.0, 1.0, 1.0, 1.1]).is_empty(), "no spread, so nothing is far");
        assert!(outliers(&[]).is_empty());
    }

    #[test]
    fn scatter_and_means_of_few_values() {
        assert_eq!(
            (standard_deviation(&[1.0]), standard_deviation(&[1.0, 3.0])),
            (0.0, 2f64.sqrt())
        );
        assert!((geometric_mean(&[1.0, 4.0]) - 2.0).abs() < 1e-12);
    }
}
