//! Knees and sweeps on simulated devices, with fixed seeds.

mod support;

use iosonde_judge::{LoadPoint, NoKnee, knee, median, round_order};
use support::{NormalNoise, percent};

const LOADS: usize = 9;

fn load(at: usize) -> f64 {
    (1u32 << at) as f64
}

/// A sweep of depths 1 to 256 in random rounds; `rate` gives the rate of a
/// load at the run of that number.
fn sweep(seed: u64, rounds: u64, mut rate: impl FnMut(f64, usize) -> f64) -> Vec<LoadPoint> {
    let mut points: Vec<LoadPoint> =
        (0..LOADS).map(|at| LoadPoint { load: load(at), rates: Vec::new() }).collect();
    let mut run = 0;
    for round in 0..rounds {
        for at in round_order(seed, round, LOADS) {
            let value = rate(load(at), run);
            points[at].rates.push(value);
            run += 1;
        }
    }
    points
}

/// Scatter of 3 %.
fn noisy(noise: &mut NormalNoise, rate: f64) -> f64 {
    rate * (0.03 * noise.normal()).exp()
}

#[test]
fn a_saturation_is_found_through_the_noise() {
    for (name, truth, soft) in [("sharp", 24.0, false), ("soft", 24.0, true)] {
        let found = percent(200, |seed| {
            let mut noise = NormalNoise::new(seed);
            let points = sweep(seed, 3, |load, _| {
                let rate =
                    if soft { truth * (1.0 - (-load / truth).exp()) } else { load.min(truth) };
                noisy(&mut noise, rate * 5000.0)
            });
            knee(&points, seed).is_ok_and(|knee| (20.0..=30.0).contains(&knee.load))
        });
        assert!(found >= 90.0, "{name}: {found}");
    }
}

#[test]
fn the_interval_of_the_knee_holds_the_truth_more_often_than_not() {
    let holds = percent(200, |seed| {
        let mut noise = NormalNoise::new(seed);
        let points = sweep(seed, 5, |load, _| noisy(&mut noise, load.min(24.0) * 5000.0));
        let found = knee(&points, seed).unwrap();
        let (low, high) = found.interval.unwrap();
        low <= found.load && found.load <= high && low <= 25.0 && high >= 23.0
    });
    assert!(holds >= 90.0, "{holds}");
}

#[test]
fn a_device_that_does_not_saturate_has_no_knee() {
    let none = percent(200, |seed| {
        let mut noise = NormalNoise::new(seed);
        let points = sweep(seed, 3, |load, _| noisy(&mut noise, load * 5000.0));
        matches!(knee(&points, seed), Err(NoKnee::StillGrows { .. }))
    });
    assert!(none >= 95.0, "{none}");
}

#[test]
fn random_rounds_keep_a_drift_out_of_the_curve() {
    // On a plateau X(256) / X(32) is 1, whatever slows down by 1 % a run.
    let ratios: Vec<f64> = (0..200)
        .map(|seed| {
            let mut noise = NormalNoise::new(seed);
            let points = sweep(seed, 3, |load, run| {
                noisy(&mut noise, load.min(24.0)) * (-0.01 * run as f64).exp()
            });
            median(&points[8].rates) / median(&points[5].rates)
        })
        .collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((mean - 1.0).abs() <= 0.02, "{mean}");
}
