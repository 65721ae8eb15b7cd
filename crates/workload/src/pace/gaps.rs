//! Gaps of a Poisson process.

use crate::random::Taus88;

/// Draws from the exponential distribution of mean one.
#[derive(Clone, Debug)]
pub(super) struct Exponential(Taus88);

/// Bits behind the point of a draw: as many as 32 bits leave.
const FRACTION: u32 = 32 - LONGEST_DRAW;

/// Bits before the point of a draw: it is below 23.
pub(super) const LONGEST_DRAW: u32 = 5;

/// The largest gap that is stretched without overflow.
const LARGEST: u128 = 1 << (127 - FRACTION - LONGEST_DRAW);

impl Exponential {
    /// Started from a seed.
    pub fn new(seed: u64) -> Exponential {
        Exponential(Taus88::new(seed as u32))
    }

    /// The next draw: `-ln(u)`, `u` even in the open interval from 0 to 1;
    /// with [`FRACTION`] bits behind the point.
    #[inline(always)]
    fn draw(&mut self) -> u32 {
        minus_ln(self.0.draw())
    }

    /// `gap` times the next draw. Gaps of more than a hundred years
    /// count as that.
    #[inline(always)]
    pub fn stretch(&mut self, gap: u128) -> u128 {
        (gap.min(LARGEST) * u128::from(self.draw())) >> FRACTION
    }

    /// The same for a gap that is at least [`LONGEST_DRAW`] bits short of 64.
    #[inline(always)]
    pub(crate) fn stretch_short(&mut self, gap: u64) -> u64 {
        ((u128::from(gap) * u128::from(self.draw())) >> FRACTION) as u64
    }
}

/// Parts that an octave is cut into.
const PARTS: usize = 256;

/// One, with [`FRACTION`] bits behind the point.
const ONE: f64 = (1u32 << FRACTION) as f64;

/// Around this number there are no bits behind the point: added to what is
/// small, it rounds that and has it in its own last 32 bits.
const ROUNDING: f64 = (3u64 << 51) as f64;

/// For each part of the octave from 1 to 2, one over its middle, and the
/// logarithm of its middle in units of [`FRACTION`] bits.
static MIDDLES: [(f64, f64); PARTS] = {
    let mut middles = [(0.0, 0.0); PARTS];
    let mut part = 0;
    while part < PARTS {
        let middle = 1.0 + (part as f64 + 0.5) / PARTS as f64;
        middles[part] = (1.0 / middle, ln_of_octave(middle) * ONE);
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

/// What each octave of a number of 33 bits adds, in the same units, and
/// [`ROUNDING`].
static OCTAVES: [f64; 64] = {
    let mut octaves = [ROUNDING; 64];
    let mut highest = 0;
    while highest <= 32 {
        octaves[highest] += (33 - highest) as f64 * std::f64::consts::LN_2 * ONE;
        highest += 1;
    }
    octaves
};

/// `-ln((draw + 1/2) / 2^32)`, with [`FRACTION`] bits behind the point, the last
/// of them not sure: eight places. It is the middle of each of 2^32 equal parts,
/// which is never zero. In a fifth of the instructions of `f64::ln`.
#[inline(always)]
fn minus_ln(draw: u32) -> u32 {
    let odd = u64::from(draw) << 1 | 1;
    let highest = odd.ilog2();
    // What follows the highest bit is the place in its octave.
    let place = odd.rotate_right(highest);
    let (inverse, ln) = MIDDLES[(place >> 56) as usize];
    // 1.0 has these bits before its fraction.
    let octave = f64::from_bits(0x3ff0_0000_0000_0000 | place >> 12);
    // Less than 1/512, so that its cube does not count.
    let rest = octave * inverse - 1.0;
    let ln = ln + rest * (ONE - rest * (ONE / 2.0));
    (OCTAVES[highest as usize & 63] - ln).to_bits() as u32
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
            let off = f64::from(minus_ln(draw)) / ONE + unit.ln();
            assert!(off.abs() < 1.2e-8, "{draw}: {off}");
        }
    }

    fn draws(seed: u64, count: usize) -> Vec<f64> {
        let mut gaps = Exponential::new(seed);
        (0..count).map(|_| f64::from(gaps.draw()) / ONE).collect()
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
