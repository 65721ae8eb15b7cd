//! Several metrics of the same runs: Holm's adjustment.

/// Probabilities adjusted so that the chance of any false "differs" among all
/// of them stays at the level of one. Holm, Scandinavian Journal of
/// Statistics 6, 1979.
pub(crate) fn adjusted(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    iosonde_base::sort_by(&mut order, |&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    let mut result = vec![1.0; probabilities.len()];
    let mut largest: f64 = 0.0;
    for (rank, &at) in order.iter().enumerate() {
        let left = (probabilities.len() - rank) as f64;
        largest = largest.max(probabilities[at] * left).min(1.0);
        result[at] = largest;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_adjustment_is_holms() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let adjusted = adjusted(&[0.01, 0.04, 0.03, 0.005]);
        for (got, wanted) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - wanted).abs() < 1e-12, "{adjusted:?}");
        }
    }
}
