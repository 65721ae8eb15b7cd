//! The short form of `cargo xtask faults`: some seeds of jobs on storage that
//! fails.

use iosonde_faults::bench::{Bench, Scene, Seeds};
use iosonde_testing::{Folder, or_skip, skip_part};
use std::os::unix::fs::PermissionsExt;
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

/// Changes the words of a command line one by one, then runs the program with them.
const CHANGED_WORDS: &str = r#"#!/bin/sh
left=$#
while [ $left -gt 0 ]; do
    word=$1; shift; left=$((left - 1))
    case $word in
        CASES
    esac
    set -- "$@" "$word"
done
exec PROGRAM "$@"
"#;

/// Runs the program, and changes what it says.
const CHANGED_REPORT: &str = r#"#!/bin/sh
PROGRAM "$@" >out.$$ 2>err.$$
code=$?
CHANGE
exit $code
"#;

/// A scene, what a program that lies does there, and a part of the finding.
const LIARS: [(Scene, &str, &str, &str); 5] = [
    (
        Scene::Paced,
        CHANGED_WORDS,
        "--rate=*) word=--rate=$((${word#*=} * 105 / 100)) ;; \
         --rate_iops=*) word=--rate_iops=$((${word#*=} * 107 / 100)) ;;",
        "too fast",
    ),
    (
        Scene::Buffers,
        CHANGED_WORDS,
        "--refill_buffers=1) word=--refill_buffers=0 ;;",
        "pieces are there twice",
    ),
    (
        Scene::Swapped,
        CHANGED_REPORT,
        "! grep -q 'bad header offset' err.$$ || code=0; \
         sed '/bad header offset/d' err.$$ >&2; cat out.$$",
        "elsewhere and not blamed",
    ),
    (
        Scene::Latencies,
        CHANGED_REPORT,
        r#"cat err.$$ >&2; awk -F'"' '/"bins"/ { bins = 1 } /}/ { bins = 0 }
           bins && $2 ~ /^[0-9]+$/ { sub($2, int($2 * 65 / 64)) } { print }' out.$$"#,
        "by buckets",
    ),
    (
        Scene::Interruptions,
        CHANGED_REPORT,
        r#"cat err.$$ >&2; sed 's/"short_ios" : [0-9]*/"short_ios" : 0/' out.$$"#,
        "short and 0 reported",
    ),
];

#[test]
fn programs_that_lie_are_found() {
    let folder = Folder::new("fault-bench-liars");
    for (scene, script, change, finding) in LIARS {
        let path = folder.join(&format!("{scene:?}"));
        let program = env!("CARGO_BIN_EXE_iosonde");
        let script = script.replace("PROGRAM", program).replace("CASES", change);
        std::fs::write(&path, script.replace("CHANGE", change)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let bench = Bench { program: path, directory: folder.path().to_owned() };
        let seeds = Seeds { first: 1, count: 300, scene: Some(scene), until: None, at_once: 4 };
        let mut found = Vec::new();
        let ran = bench.run_all(&seeds, |_, result| {
            found.extend(result.findings.iter().map(|finding| finding.text.clone()));
        });
        if or_skip(ran).is_none() {
            return;
        }
        assert!(found.iter().any(|text| text.contains(finding)), "{scene:?}: {found:?}");
    }
}
