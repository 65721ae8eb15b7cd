//! Distributions under which some blocks are hotter than others: zipf, pareto
//! and a bell.
//!
//! The laws give small numbers to what is hot; a hash then scatters the numbers
//! over the file, so that hot blocks are no neighbours. Files are picked
//! by the same laws, without the hash.

use iosonde_base::Dir;

use crate::random::{Ahead, Taus88};
use crate::spec::{Distribution, SourceFile, SourceSpec, SpecError};
use crate::streams::{Seeds, Stream};

/// Draws numbers below `n` by a law: how often each is drawn, and in which order.
#[derive(Debug)]
pub struct Law {
    curve: Curve,
    n: u64,
    center: Option<f64>,
    scattered: bool,
    seed: u32,
    draws: Ahead,
    /// Added to each number, modulo `n`.
    shift: u64,
}

/// What is drawn, before it is scattered and shifted.
#[derive(Clone, Debug)]
pub(super) enum Curve {
    /// Gray et al., "Quickly generating billion-record synthetic databases",
    /// SIGMOD 1994.
    Zipf { zeta_n: f64, zeta_2: f64, eta: f64, alpha: f64 },
    /// A power of an even draw.
    Pareto { power: f64 },
    /// The mean of even draws, each below a number, and an even deviation from it.
    Normal { deviation: u64, below: Divisor },
}

impl Law {
    /// The law for places in `file`; none if places are even or zoned.
    pub(crate) fn for_file(
        spec: &SourceSpec,
        seeds: &Seeds,
        file: &SourceFile,
    ) -> Result<Option<Law>, SpecError> {
        let least = spec.sizes[Dir::Read].min().min(spec.sizes[Dir::Write].min());
        let n = file.size.min(file.end).div_ceil(u64::from(least.max(1)));
        let Some((curve, center)) = curve_of(&spec.distribution, n)? else {
            return Ok(None);
        };
        // The low half of the product, as fio has it: so the thread's number
        // and the file's name both matter.
        let seed = hash_of_name(file.name.as_bytes())
            .wrapping_mul(spec.thread_number)
            .wrapping_mul(seeds.of(Stream::Offset) as u32);
        Ok(Some(Law::new(curve, n, center, seed, true)))
    }

    /// The law of `blocks` numbers that belong to no file, scattered as those of a file are; none
    /// if numbers are drawn evenly or by zones.
    ///
    /// # Errors
    /// The distribution's input is out of its range.
    pub fn of_blocks(
        distribution: &Distribution,
        blocks: u64,
        seed: u32,
    ) -> Result<Option<Law>, SpecError> {
        let curve = curve_of(distribution, blocks)?;
        Ok(curve.map(|(curve, center)| Law::new(curve, blocks, center, seed, true)))
    }

    pub(super) fn new(
        curve: Curve,
        n: u64,
        center: Option<f64>,
        seed: u32,
        scattered: bool,
    ) -> Law {
        let draws = Ahead::new(Taus88::new(seed));
        let mut law = Law { curve, n, center, scattered, seed, draws, shift: 0 };
        law.restart();
        law
    }

    pub(super) fn curve(&self) -> &Curve {
        &self.curve
    }

    /// What the next numbers are made of.
    #[inline(always)]
    pub(super) fn draws(&mut self) -> &mut Ahead {
        &mut self.draws
    }

    /// How many numbers there are.
    pub fn numbers(&self) -> u64 {
        self.n
    }

    /// Draw the same numbers again.
    pub fn restart(&mut self) {
        self.draws = Ahead::new(Taus88::new(self.seed));
        let part = |center: f64| (center * self.n as f64) as u64;
        self.shift = match self.curve {
            // The bell has its top in the middle already.
            Curve::Normal { .. } => self.center.map_or(0, |center| {
                if center < 0.5 { part(center + 0.5) } else { part(center - 0.5) }
            }),
            // The number is drawn even when it is not used.
            _ => {
                let drawn = u64::from(self.draws.draw());
                self.center.map_or(drawn, part)
            }
        };
    }

    /// The next number, below `n`.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        let drawn = self.curve.draw(&mut self.draws, self.n);
        self.placed(drawn)
    }

    /// What becomes of a number that was drawn.
    #[inline]
    pub(super) fn placed(&self, drawn: u64) -> u64 {
        let scattered = if self.scattered { drawn.wrapping_mul(SCATTER) } else { drawn };
        scattered.wrapping_add(self.shift) % self.n.max(1)
    }
}

/// 2^64 less its golden section: what fio multiplies a number by to scatter it.
const SCATTER: u64 = 0x61c8_8646_80b5_83eb;

/// How many even draws make a bell.
const BELL_DRAWS: usize = 12;

/// A number that draws of 32 bits are divided by.
#[derive(Clone, Debug)]
pub(super) struct Divisor {
    number: u64,
    /// 2^64 divided by it, rounded up.
    reciprocal: u64,
}

impl Divisor {
    /// By `number`, 2 at least.
    fn new(number: u64) -> Divisor {
        let number = number.max(2);
        Divisor { number, reciprocal: u64::MAX / number + 1 }
    }

    /// The sum of what is left of each of the `draws`. The product with the reciprocal is too large
    /// by less than 1 / 2^32, which is less than it is from the next integer.
    #[inline(always)]
    fn remainders<const COUNT: usize>(&self, draws: &[u32; COUNT]) -> u64 {
        let (mut sum, mut quotients) = (0, 0);
        for draw in draws {
            sum += u64::from(*draw);
            quotients += ((u128::from(self.reciprocal) * u128::from(*draw)) >> 64) as u64;
        }
        sum - quotients * self.number
    }
}

impl Curve {
    /// Whether a number is made of one draw, of which a greater makes a greater number or the same;
    /// by more, where it is drawn by a power, than that is rounded.
    pub(super) fn rises(&self) -> bool {
        match self {
            Curve::Zipf { eta, alpha, .. } => eta.is_finite() && alpha.abs() < 1e6,
            Curve::Pareto { power } => *power > 1e-3,
            Curve::Normal { .. } => false,
        }
    }

    /// The number of one draw, but for a bell.
    #[inline]
    pub(super) fn number(&self, draw: u32, n: u64) -> u64 {
        match *self {
            Curve::Zipf { zeta_n, zeta_2, eta, alpha } => {
                let u = unit(draw);
                let z = u * zeta_n;
                if z < 1.0 {
                    0
                } else if z < zeta_2 {
                    1
                } else {
                    (n as f64 * (eta * u - eta + 1.0).powf(alpha)) as u64
                }
            }
            Curve::Pareto { power } => (n.saturating_sub(1) as f64 * unit(draw).powf(power)) as u64,
            Curve::Normal { .. } => 0,
        }
    }

    #[inline]
    fn draw(&self, draws: &mut Ahead, n: u64) -> u64 {
        match *self {
            Curve::Zipf { .. } | Curve::Pareto { .. } => self.number(draws.draw(), n),
            Curve::Normal { deviation, ref below } => {
                let drawn = draws.some::<BELL_DRAWS>();
                let sum = below.remainders(&drawn);
                let mean = sum.div_ceil(BELL_DRAWS as u64);
                if deviation == 0 {
                    return mean;
                }
                let mut off =
                    (deviation as f64 * unit(draws.draw())) as i64 - (deviation / 2) as i64;
                loop {
                    match mean.checked_add_signed(off) {
                        Some(number) if number < n || off == 0 => return number,
                        // Past either end: half as far, as in fio.
                        _ => off /= 2,
                    }
                }
            }
        }
    }
}

/// Evenly from 0 to 1, both included, as fio has it.
#[inline]
fn unit(draw: u32) -> f64 {
    f64::from(draw) / f64::from(u32::MAX)
}

pub(super) fn curve_of(
    distribution: &Distribution,
    n: u64,
) -> Result<Option<(Curve, Option<f64>)>, SpecError> {
    let (curve, center) = match *distribution {
        Distribution::Random
        | Distribution::Zoned(_)
        | Distribution::ZonedAbs(_)
        | Distribution::Sequence(_) => return Ok(None),
        Distribution::Zipf { theta, center } => (zipf(theta, n)?, center),
        Distribution::Pareto { h, center } => (pareto(h)?, center),
        Distribution::Normal { deviation, center } => (normal(deviation, n)?, center),
    };
    check_center(center)?;
    Ok(Some((curve, center)))
}

fn check_center(center: Option<f64>) -> Result<(), SpecError> {
    if center.is_none_or(|center| (0.0..=1.0).contains(&center)) {
        Ok(())
    } else {
        Err(SpecError::BadDistribution)
    }
}

fn zipf(theta: f64, n: u64) -> Result<Curve, SpecError> {
    if !(theta > 0.0 && theta.is_finite() && theta != 1.0) {
        return Err(SpecError::BadDistribution);
    }
    let zeta_n = zeta(n.min(ZETA_MOST), theta);
    let zeta_2 = 1.0 + 0.5f64.powf(theta);
    let eta = (1.0 - (2.0 / n as f64).powf(1.0 - theta)) / (1.0 - zeta_2 / zeta_n);
    Ok(Curve::Zipf { zeta_n, zeta_2, eta, alpha: 1.0 / (1.0 - theta) })
}

fn pareto(h: f64) -> Result<Curve, SpecError> {
    if !(h > 0.0 && h < 1.0) {
        return Err(SpecError::BadDistribution);
    }
    Ok(Curve::Pareto { power: h.ln() / (1.0 - h).ln() })
}

fn normal(percent: f64, n: u64) -> Result<Curve, SpecError> {
    if !(0.0..=100.0).contains(&percent) {
        return Err(SpecError::BadDistribution);
    }
    let deviation = (n as f64 * percent / 100.0).ceil() as u64;
    let below = Divisor::new(n.checked_add(1).ok_or(SpecError::BadDistribution)?);
    Ok(Curve::Normal { deviation: deviation.min(n / 2), below })
}

/// fio sums up no more terms than this, however large the file.
const ZETA_MOST: u64 = 10_000_000;

/// Terms added one by one; the rest by a formula.
const ZETA_TERMS: u64 = 10_000;

/// The sum of i^-theta for i from 1 to n.
///
/// Past the first terms by Euler and Maclaurin; the next term is below 1e-18
/// here: adding up ten million takes a third of a second for each file.
fn zeta(n: u64, theta: f64) -> f64 {
    let head: f64 = (1..=n.min(ZETA_TERMS)).map(|i| (i as f64).powf(-theta)).sum();
    if n <= ZETA_TERMS {
        return head;
    }
    let term = |i: f64| i.powf(-theta);
    let integral = |i: f64| i.powf(1.0 - theta) / (1.0 - theta);
    let slope = |i: f64| -theta * i.powf(-theta - 1.0);
    let (from, to) = (ZETA_TERMS as f64, n as f64);
    head + integral(to) - integral(from)
        + (term(to) - term(from)) / 2.0
        + (slope(to) - slope(from)) / 12.0
}

/// What fio makes of a file's name: Jenkins's lookup3 (2006, public domain),
/// which is given one byte of each four, except in the last twelve.
fn hash_of_name(name: &[u8]) -> u32 {
    // Names longer than 2^32 bytes do not exist.
    let start = 0x61c8_8647u32.wrapping_add(name.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut rest = name;
    while rest.len() > 12 {
        a = a.wrapping_add(u32::from(rest[0]));
        b = b.wrapping_add(u32::from(rest[4]));
        c = c.wrapping_add(u32::from(rest[8]));
        (a, b, c) = jenkins_mix(a, b, c);
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let mut last = [0; 12];
    last[..rest.len()].copy_from_slice(rest);
    let word = |i: usize| u32::from_le_bytes([last[i], last[i + 1], last[i + 2], last[i + 3]]);
    jenkins_final(a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8)))
}

fn jenkins_mix(a: u32, b: u32, c: u32) -> (u32, u32, u32) {
    let step =
        |x: u32, y: u32, z: u32, bits| (x.wrapping_sub(z) ^ z.rotate_left(bits), z.wrapping_add(y));
    let (a, c) = step(a, b, c, 4);
    let (b, a) = step(b, c, a, 6);
    let (c, b) = step(c, a, b, 8);
    let (a, c) = step(a, b, c, 16);
    let (b, a) = step(b, c, a, 19);
    let (c, b) = step(c, a, b, 4);
    (a, b, c)
}

fn jenkins_final(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    let step = |x: u32, y: u32, bits| (x ^ y).wrapping_sub(y.rotate_left(bits));
    c = step(c, b, 14);
    a = step(a, c, 11);
    b = step(b, a, 25);
    c = step(c, b, 16);
    a = step(a, c, 4);
    b = step(b, a, 14);
    step(c, b, 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_for_zeta_is_the_sum() {
        for theta in [0.4, 0.99, 1.1, 1.2, 2.5] {
            for n in [ZETA_TERMS + 1, 123_456, 1_000_000] {
                let sum: f64 = (1..=n).rev().map(|i| (i as f64).powf(-theta)).sum();
                assert!((zeta(n, theta) / sum - 1.0).abs() < 1e-13, "{theta} {n}");
            }
        }
    }

    #[test]
    fn every_number_is_below_n() {
        for n in [1, 2, 3, 10, 1000, 16384] {
            let curves = [
                zipf(0.5, n).unwrap(),
                zipf(1.2, n).unwrap(),
                pareto(0.2).unwrap(),
                normal(0.0, n).unwrap(),
                normal(100.0, n).unwrap(),
            ];
            for curve in curves {
                for center in [None, Some(0.0), Some(0.5), Some(1.0)] {
                    let mut law = Law::new(curve.clone(), n, center, 99, true);
                    assert!((0..2000).all(|_| law.draw() < n), "{curve:?} {n} {center:?}");
                }
            }
        }
    }

    #[test]
    fn remainders_are_those_of_a_division() {
        let numbers = [2, 3, 1000, 26_214_401, (1 << 31) + 1, (1 << 32) - 1, 1 << 32, 1 << 40];
        for number in numbers {
            let divisor = Divisor::new(number);
            for draw in
                [0, 1, 2, 999, 1000, 26_214_400, 26_214_401, 1 << 31, u32::MAX - 1, u32::MAX]
            {
                assert_eq!(
                    divisor.remainders(&[draw]),
                    u64::from(draw) % number,
                    "{draw} % {number}"
                );
            }
        }
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        for theta in [0.0, -1.0, 1.0, f64::NAN, f64::INFINITY] {
            assert!(zipf(theta, 10).is_err(), "{theta}");
        }
        for h in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(pareto(h).is_err(), "{h}");
        }
        for percent in [-0.1, 100.1, f64::NAN] {
            assert!(normal(percent, 10).is_err(), "{percent}");
        }
        assert!(check_center(Some(1.1)).is_err());
    }

    #[test]
    fn a_long_name_is_hashed_to_its_end() {
        let name = b"/mnt/data/a-rather-long-name.0.1";
        let mut other = *name;
        *other.last_mut().unwrap() = b'2';
        assert_ne!(hash_of_name(name), hash_of_name(&other));
        assert_eq!(hash_of_name(b""), 0x61c8_8647);
    }
}
