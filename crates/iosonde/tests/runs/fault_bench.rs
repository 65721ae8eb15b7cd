//! The short form of `cargo xtask faults`: some seeds of jobs on storage that
//! fails.

use iosonde_faults::bench::{Bench, Seeds};
use iosonde_testing::{Folder, or_skip, skip_part};
use std::path::PathBuf;

/// Two rounds of all scenes.
const SEEDS: u64 = 50;

#[test]
fn jobs_on_failing_storage_report_what_was_injected() {
    try_seeds("fault-bench", 1, SEEDS);
}

/// Files whose close(2) failed after the layout, and the job ended with 0.
#[test]
fn seeds_that_found_something_find_it_no_longer() {
    for seed in [60_056, 60_156, 61_924] {
        try_seeds("fault-bench-found", seed, 1);
    }
}

fn try_seeds(name: &str, first: u64, count: u64) {
    let folder = Folder::new(name);
    let bench = Bench {
        program: PathBuf::from(env!("CARGO_BIN_EXE_iosonde")),
        directory: folder.path().to_owned(),
    };
    let seeds = Seeds { first, count, scene: None, until: None, at_once: 4 };
    let mut found = Vec::new();
    let mut skipped = Vec::new();
    let ran = bench.run_all(&seeds, |seed, result| {
        found.extend(result.findings.iter().map(|finding| format!("seed {seed}: {finding}")));
        skipped.extend(result.skipped.clone());
    });
    let Some(totals) = or_skip(ran) else { return };
    assert!(
        found.is_empty(),
        "{}\ncargo xtask faults --seed SEED runs one again",
        found.join("\n\n")
    );
    skipped.sort();
    skipped.dedup();
    for why in &skipped {
        skip_part!("{why}");
    }
    let injected: u64 = totals.values().map(|total| total.injected).sum();
    assert!(injected > 0 || !skipped.is_empty(), "no fault was injected: {totals:?}");
}
