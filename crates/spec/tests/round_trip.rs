//! Whatever text an option takes, it shows as text that it takes for the same.

use iosonde_options::{Built, OptionDef, Origin};
use iosonde_spec::{JobSpec, all};
use proptest::prelude::*;

/// Pieces that option values are made of, so that many of the texts drawn are taken.
const PIECES: &[&str] = &[
    "0",
    "1",
    "2",
    "7",
    "10",
    "50",
    "100",
    "512",
    "4096",
    "0x1f",
    "k",
    "m",
    "kib",
    "g",
    "s",
    "ms",
    "us",
    "%",
    "z",
    ":",
    ",",
    "-",
    "/",
    "\\",
    "\"",
    "'",
    ".5",
    "+",
    " ",
    "o",
    "é",
    "read",
    "write",
    "randread",
    "zipf",
    "zoned",
    "normal",
    "iops",
    "bw_slope",
    "lat",
    "EIO",
    "ENOSPC",
    "bind",
    "mmap",
    "external",
    "psync",
    "roundrobin",
    "wait_before",
];

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..7).prop_map(|pieces| pieces.concat())
}

fn rows() -> Vec<&'static OptionDef> {
    all().filter(|row| row.deprecated.is_none() || row.built != Built::No).collect()
}

fn set(row: &OptionDef, text: &str) -> Option<JobSpec> {
    let mut spec = JobSpec::default();
    spec.set(row.name, Some(text), Origin::CommandLine { index: 1 }).ok().map(|_| spec)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_taken_is_shown_so_that_it_reads_back(
        row in prop::sample::select(rows()),
        text in texts(),
    ) {
        if let Some(spec) = set(row, &text) {
            let shown = spec.show(row.name).expect("a known name");
            // A list of nothing shows as nothing, which nobody can type.
            if !shown.is_empty() {
                let again = set(row, &shown);
                prop_assert!(again.is_some(), "{}={text:?} shows {shown:?}", row.name);
                let again = again.expect("just asked");
                prop_assert_eq!(again.show(row.name), Some(shown), "{}={:?}", row.name, text);
            }
        }
    }

    #[test]
    fn no_text_of_any_kind_makes_it_panic(
        row in prop::sample::select(rows()),
        text in any::<String>(),
    ) {
        let _ = set(row, &text);
    }
}
