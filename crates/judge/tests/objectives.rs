//! The search for the highest rate on a simulated M/M/1 queue: its p99 at rate
//! `l` is ln(100) / (m - l).

mod support;

use iosonde_judge::{SloOutcome, SloSearch, SloStep};
use support::{NormalNoise, percent};

const CAPACITY: f64 = 20_000.0;
const GOAL_S: f64 = 0.002;
/// Where the p99 is 2 ms.
const TRUTH: f64 = 17_697.4;

/// One run; its capacity scatters.
fn keeps(noise: &mut NormalNoise, rate: f64, scatter: f64, goal_s: f64) -> bool {
    let capacity = CAPACITY * (scatter * noise.normal()).exp();
    capacity > rate && 100f64.ln() / (capacity - rate) < goal_s
}

struct SearchEnd {
    outcome: SloOutcome,
    probes: u32,
}

fn search(noise: &mut NormalNoise, scatter: f64, goal_s: f64, confirm: u32) -> SearchEnd {
    let mut search = SloSearch::new(CAPACITY * 0.01, None, confirm);
    let mut probes = 0;
    loop {
        match search.step() {
            SloStep::Probe { rate, .. } => search.record(keeps(noise, rate, scatter, goal_s)),
            SloStep::Done(outcome) => return SearchEnd { outcome, probes },
        }
        probes += 1;
    }
}

fn rate(found: &SearchEnd) -> f64 {
    match found.outcome {
        SloOutcome::Met { rate, .. } => rate,
        SloOutcome::Impossible { .. } => 0.0,
    }
}

/// The share of searches with an answer that a fresh run keeps.
fn fresh_runs_pass(scatter: f64, confirm: u32) -> f64 {
    percent(200, |seed| {
        let mut noise = NormalNoise::new(seed);
        let found = search(&mut noise, scatter, GOAL_S, confirm);
        keeps(&mut noise, rate(&found), scatter, GOAL_S)
    })
}

#[test]
fn the_answer_lies_just_below_the_truth_and_holds() {
    let near = percent(200, |seed| {
        let found = search(&mut NormalNoise::new(seed), 0.01, GOAL_S, 3);
        assert!(found.probes <= 25, "{}", found.probes);
        (-0.06..=0.0).contains(&(rate(&found) / TRUTH - 1.0))
    });
    assert!(near >= 90.0, "{near}");
    let passes = fresh_runs_pass(0.01, 3);
    assert!(passes >= 90.0, "{passes}");
}

#[test]
fn without_confirming_runs_the_answer_is_a_coin_flip() {
    let passes = fresh_runs_pass(0.01, 0);
    assert!((40.0..=75.0).contains(&passes), "{passes}");
}

#[test]
fn an_impossible_goal_is_reported_after_few_probes() {
    // An idle device already takes ln(100) / 20 000 s, which is 230 us.
    for seed in 0..50 {
        let found = search(&mut NormalNoise::new(seed), 0.01, 0.0001, 3);
        assert!(matches!(found.outcome, SloOutcome::Impossible { .. }), "{:?}", found.outcome);
        assert!(found.probes <= 8, "{}", found.probes);
    }
}
