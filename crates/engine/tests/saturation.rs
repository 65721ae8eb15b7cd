//! A simulated device that works on a limited number of I/Os together, on a
//! simulated clock: its throughput saturates, and the knee is found where it is.

mod common;

use common::{drive, nowhere, spec, window};
use iosonde_base::{Dir, Nanos};
use iosonde_engine::sim::{Script, Sim};
use iosonde_engine::{Ended, Loop, QueueLoop};
use iosonde_judge::{LoadPoint, NoKnee, knee};
use iosonde_sys::clock::{Clock, Still};
use iosonde_workload::{Directions, SourceSpec};

/// A run is so long, in simulated nanoseconds.
const RUN: u64 = 20_000_000;

/// Reads a second with `depth` in flight.
fn rate(script: Script, depth: u32) -> f64 {
    let clock = Clock::still(Still::at(0));
    let reads = Directions { read: true, random: true, ..Directions::default() };
    let spec = SourceSpec { time_based: true, ..spec(reads, 4096, 1 << 30, 1) };
    let (mut drive, counters) = drive(clock, &spec, vec![nowhere(1 << 30)], window(depth, 1));
    let sim = Sim::new(script, clock, depth);
    let mut engine = QueueLoop::<_, true>::new(sim, depth);
    drive.control.arm(RUN);
    assert!(matches!(engine.run(&mut drive), Ended::Time));
    engine.drain(&mut drive).unwrap();
    counters.lanes[Dir::Read as usize].ios.get() as f64 * 1e9 / clock.now() as f64
}

fn device(channels: u32, latency: (u64, u64), seed: u64) -> Script {
    let latency = (Nanos::from_micros(latency.0), Nanos::from_micros(latency.1));
    Script { seed, latency, channels, ..Script::default() }
}

#[test]
fn throughput_saturates_at_the_number_of_channels() {
    let of = |channels: u32, depth: u32| rate(device(channels, (100, 100), 0), depth);
    for (depth, expected) in
        [(1, 10_000.0), (2, 20_000.0), (4, 40_000.0), (8, 40_000.0), (64, 40_000.0)]
    {
        let found = of(4, depth);
        assert!((found / expected - 1.0).abs() < 0.02, "depth {depth}: {found}");
    }
    let unlimited = of(0, 64);
    assert!((unlimited / 640_000.0 - 1.0).abs() < 0.02, "{unlimited}");
}

/// Rounds of depths 1 to 256, as a sweep runs them; service times scatter.
fn sweep(channels: u32, rounds: u64, seed: u64) -> Vec<LoadPoint> {
    let point = |power: u32| {
        let depth = 1 << power;
        let rates = (0..rounds).map(|round| {
            let seed = seed * 1000 + round * 10 + u64::from(power);
            rate(device(channels, (60, 140), seed), depth)
        });
        LoadPoint { load: f64::from(depth), rates: rates.collect() }
    };
    (0..9).map(point).collect()
}

#[test]
fn the_knee_of_a_device_with_24_channels_is_found_between_20_and_30() {
    let found: Vec<f64> =
        (0..10).map(|seed| knee(&sweep(24, 3, seed), seed).unwrap().load).collect();
    let good = found.iter().filter(|load| (20.0..=30.0).contains(*load)).count();
    assert!(good >= 9, "{found:?}");
}

#[test]
fn a_device_without_a_limit_has_no_knee() {
    let found = knee(&sweep(0, 2, 1), 1);
    assert!(matches!(found, Err(NoKnee::StillGrows { load: 256.0, .. })), "{found:?}");
}
