//! Simulated runs: noise of several kinds, from fixed seeds.
#![allow(dead_code)] // Each test file uses its part.

use iosonde_judge::{PairOrder, SeededRandom, pair_orders};

/// Normal values, by Box and Muller.
pub struct NormalNoise(SeededRandom);

impl NormalNoise {
    pub fn new(seed: u64) -> NormalNoise {
        NormalNoise(SeededRandom::new(seed, 99))
    }

    /// A number in (0, 1].
    pub fn uniform(&mut self) -> f64 {
        ((self.0.word() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// What disturbs runs, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Disturbance {
    /// Each run by itself.
    Independent,
    /// Runs resemble their neighbours, by this correlation.
    Correlated(f64),
    /// Each run is slower than the one before, by 1 %.
    Drift,
    /// From some run on, all are slower by 8 %.
    Step,
    /// One run in ten is slower by 20 %.
    Outliers,
}

pub const ALL: [Disturbance; 6] = [
    Disturbance::Independent,
    Disturbance::Correlated(0.6),
    Disturbance::Correlated(0.9),
    Disturbance::Drift,
    Disturbance::Step,
    Disturbance::Outliers,
];

/// The logarithms of `runs` runs in a row. The scatter of a run is 4 %, or 2 %
/// beside a fault of another kind.
pub fn runs(noise: &mut NormalNoise, kind: Disturbance, runs: usize) -> Vec<f64> {
    let step_at = (noise.uniform() * runs as f64) as usize;
    let mut state = noise.normal();
    (0..runs)
        .map(|run| match kind {
            Disturbance::Independent => 0.04 * noise.normal(),
            Disturbance::Correlated(phi) => {
                let now = 0.04 * state;
                state = phi * state + (1.0 - phi * phi).sqrt() * noise.normal();
                now
            }
            Disturbance::Drift => 0.02 * noise.normal() - 0.01 * run as f64,
            Disturbance::Step => {
                0.02 * noise.normal() + if run >= step_at { (0.92f64).ln() } else { 0.0 }
            }
            Disturbance::Outliers => {
                let is_slow = noise.uniform() < 0.1;
                0.02 * noise.normal() + if is_slow { (0.8f64).ln() } else { 0.0 }
            }
        })
        .collect()
}

/// ln(B / A) of pairs in the recorded random order, where B is faster by
/// `effect` (a logarithm).
pub fn pairs(seed: u64, kind: Disturbance, looks: &[usize], effect: f64) -> Vec<f64> {
    let orders = pair_orders(seed, looks);
    let series = runs(&mut NormalNoise::new(seed), kind, orders.len() * 2);
    orders
        .iter()
        .zip(series.chunks(2))
        .map(|(order, pair)| match order {
            PairOrder::AFirst => pair[1] - pair[0] + effect,
            PairOrder::BFirst => pair[0] - pair[1] + effect,
        })
        .collect()
}

/// How many of `sets` numbered sets pass, in percent.
pub fn percent(sets: u64, passes: impl Fn(u64) -> bool) -> f64 {
    (0..sets).filter(|&set| passes(set)).count() as f64 * 100.0 / sets as f64
}
