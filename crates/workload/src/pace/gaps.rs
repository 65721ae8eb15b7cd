//! Gaps of a Poisson process.

use crate::random::Taus88;

/// Draws from the exponential distribution of mean one.
#[derive(Clone, Debug)]
pub(super) struct Exponential(Taus88);

/// Bits behind the point of a draw. A draw is below 23, so that it is an
/// integer of 29 bits.
const FRACTION: u32 = 24;

/// The largest gap that is stretched in integers without overflow.
const LARGEST: u128 = 1 << (127 - FRACTION - 5);

impl Exponential {
    /// Started from a seed.
    pub fn new(seed: u64) -> Exponential {
        Exponential(Taus88::new(seed as u32))
    }

    /// The next draw: `-ln(u)`, `u` even in the open interval from 0 to 1.
    #[inline(always)]
    fn draw(&mut self) -> f64 {
        minus_ln(self.0.draw())
    }

    /// `gap` times the next draw. Gaps of more than a hundred years
    /// count as that.
    #[inline(always)]
    pub fn stretch(&mut self, gap: u128) -> u128 {
        // Signed, as that is one instruction; it is never negative.
        let drawn = (self.draw() * f64::from(1u32 << FRACTION)) as i64 as u64;
        (gap.min(LARGEST) * u128::from(drawn)) >> FRACTION
    }
}

/// Parts that an octave is cut into.
const PARTS: usize = 256;

/// For each part of the octave from 1 to 2, one over its middle, and the
/// logarithm of its middle.
static MIDDLES: [(f64, f64); PARTS] = {
    let mut middles = [(0.0, 0.0); PARTS];
    let mut part = 0;
    while part < PARTS {
        let middle = 1.0 + (part as f64 + 0.5) / PARTS as f64;
        middles[part] = (1.0 / middle, ln_of_octave(middle));
        part += 1;
    }
    middles
};

/// The logarithm of a number from 1 to 2, by the series of `atanh`.
const fn ln_of_octave(x: f64) -> f64 {
    let ratio = (x - 1.0) / (x + 1.0);
    let (mut term, mut sum, mut power) = (ratio, 0.0, 1);
    while power < 60 {
        sum += term / power as f64;
        term *= ratio * ratio;
        power += 2;
    }
    2.0 * sum
}

/// `-ln((draw + 1/2) / 2^32)`, to ten places: the middle of each of 2^32 equal
/// parts, which is never zero, and whose mean is off by less than one part in
/// a thousand million. In a quarter of the instructions of `f64::ln`.
#[inline(always)]
fn minus_ln(draw: u32) -> f64 {
    let odd = u64::from(draw) << 1 | 1;
    let zeros = odd.leading_zeros();
    // The leading bit goes; what follows it is the place in its octave.
    let place = odd << zeros << 1;
    let (inverse, ln) = MIDDLES[(place >> 56) as usize];
    // 1.0 has these bits before its fraction.
    let octave = f64::from_bits(0x3ff0_0000_0000_0000 | place >> 12);
    let rest = octave * inverse - 1.0;
    let ln = ln + rest * (1.0 - rest * (0.5 - rest * (1.0 / 3.0)));
    // Of 33 bits, 31 zeros are before the first that could be one.
    f64::from(zeros - 30) * std::f64::consts::LN_2 - ln
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_the_library() {
        let evenly = (0..4_000_000u32).map(|n| n * 1073);
        let edges = (0..32).flat_map(|bit| [1 << bit, (1u32 << bit).wrapping_sub(1), !(1 << bit)]);
        for draw in evenly.chain(edges).chain([0, u32::MAX]) {
            let unit = (f64::from(draw) + 0.5) / 4_294_967_296.0;
            let off = minus_ln(draw) + unit.ln();
            assert!(off.abs() < 1e-10, "{draw}: {off}");
        }
    }

    fn draws(seed: u64, count: usize) -> Vec<f64> {
        let mut gaps = Exponential::new(seed);
        (0..count).map(|_| gaps.draw()).collect()
    }

    #[test]
    fn mean_and_variance_are_one() {
        for seed in [1, 2, 0xb189_9bed] {
            let draws = draws(seed, 1_000_000);
            let n = draws.len() as f64;
            let mean = draws.iter().sum::<f64>() / n;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            // Deviations of the two: 0.001 and 0.0028.
            assert!((mean - 1.0).abs() < 0.004, "{seed}: mean {mean}");
            assert!((variance - 1.0).abs() < 0.012, "{seed}: variance {variance}");
        }
    }

    #[test]
    fn draws_spread_as_the_distribution_says() {
        const CLASSES: usize = 50;
        for seed in [3, 4, 5] {
            let draws = draws(seed, 200_000);
            let mut counts = [0.0; CLASSES];
            for x in &draws {
                // Classes of equal probability, by the distribution function.
                counts[((1.0 - (-x).exp()) * CLASSES as f64) as usize] += 1.0;
            }
            let want = draws.len() as f64 / CLASSES as f64;
            let chi: f64 = counts.iter().map(|got| (got - want).powi(2) / want).sum();
            // 49 degrees of freedom: 94 is exceeded once in ten thousand.
            assert!(chi < 94.0, "{seed}: {chi}");
        }
    }

    #[test]
    fn neighbours_do_not_know_of_each_other() {
        let draws = draws(6, 500_000);
        let pairs = draws.windows(2).map(|pair| (pair[0] - 1.0) * (pair[1] - 1.0));
        let correlation = pairs.sum::<f64>() / (draws.len() - 1) as f64;
        assert!(correlation.abs() < 0.006, "{correlation}");
    }

    #[test]
    fn a_gap_without_end_does_not_overflow() {
        let mut gaps = Exponential::new(7);
        assert!((0..1000).all(|_| gaps.stretch(u128::MAX) < u128::MAX / 8));
    }
}
