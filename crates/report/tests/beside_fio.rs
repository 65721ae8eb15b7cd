//! Our formats beside those of the fio that is installed: keys, order, types,
//! layout. Skipped, with the reason, where there is no fio.

mod common;

use common::{Recorder, facts, fio};
use iosonde_base::{Dir, PerDir};
use iosonde_report::formats::*;
use iosonde_report::*;
use serde_json::Value;
use std::collections::BTreeSet;

const JOB: [&str; 9] = [
    "--name=beside",
    "--ioengine=null",
    "--iodepth=4",
    "--rw=randrw",
    "--size=1g",
    "--time_based",
    "--runtime=1",
    "--rate_iops=3000",
    "--eta=never",
];

/// The same job, as we would account for it.
fn ours() -> Report {
    let counts = Recorder::new()
        .ios(Dir::Read, 3000, 4096, 300)
        .ios(Dir::Write, 3000, 4096, 300)
        .windows(Dir::Read, &[11_000], &[3000])
        .windows(Dir::Write, &[11_000], &[3000])
        .done();
    let mut facts = facts("beside", "", [1001, 1001, 0]);
    facts.report.options = JOB.iter().filter_map(|option| option[2..].split_once('=')).fold(
        Vec::new(),
        |mut options, (name, value)| {
            if name != "eta" {
                options.push((name.into(), value.into()));
            }
            options
        },
    );
    facts.report.latency.depth = 4;
    let (jobs, groups, _) = account(&[JobAccount::new(facts, counts)]);
    Report { version: "fio-3.42".into(), jobs, groups, ..Report::default() }
}

fn shape_of(text: &str) -> Vec<String> {
    // Which options were given is not a matter of format.
    iosonde_testing::json_shape(&serde_json::from_str(text).expect("it is JSON"), &["options"])
}

/// Keys that fio 3.42 has and 3.33 has not (reference for both: their own
/// output).
const SINCE_3_33: [&str; 3] = ["/job_start", "/latency_target_ns", "/latency_window_us"];

#[test]
fn json_has_the_keys_the_order_and_the_types_of_fio() {
    let Some(text) = fio(&[&JOB[..], &["--output-format=json"]].concat()) else { return };
    let mine = fio_json(&ours(), &JsonOptions::default());
    let mut mine = shape_of(&mine);
    mine.retain(|shape| !SINCE_3_33.iter().any(|key| shape.contains(key)));
    let mut theirs = shape_of(&text);
    theirs.retain(|shape| !SINCE_3_33.iter().any(|key| shape.contains(key)));
    assert_eq!(mine, theirs);
}

#[test]
fn json_is_spaced_as_fio_spaces_it() {
    let Some(text) = fio(&[&JOB[..], &["--output-format=json"]].concat()) else { return };
    let value: Value = serde_json::from_str(&text).unwrap();
    let mine = fio_json(&ours(), &JsonOptions::default());
    // Digits, names of options and dates apart, every line of ours is one of
    // theirs, and the other way round.
    let options: BTreeSet<String> = value["jobs"][0]["job options"]
        .as_object()
        .unwrap()
        .keys()
        .map(|key| format!("        \"{key}\""))
        .collect();
    let lines = |text: &str| -> BTreeSet<String> {
        text.lines()
            .filter(|line| !options.iter().any(|option| line.starts_with(option.as_str())))
            .filter(|line| !SINCE_3_33.iter().any(|key| line.contains(&key[1..])))
            .filter(|line| !line.contains("\"time\"") && !line.contains("\"fio version\""))
            // What stands last has no comma, and 3.42 has another last key.
            .map(|line| digits_as_one(line.trim_end_matches(',')))
            .collect()
    };
    assert_eq!(lines(&mine), lines(&text));
}

/// Runs of digits as one `9`, so that layouts can be compared. Widths do not
/// count: blanks before a number are dropped.
fn digits_as_one(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars() {
        match c {
            '0'..='9' if out.ends_with('9') => {}
            '0'..='9' => {
                while out.ends_with("= ") || out.ends_with("[ ") {
                    out.pop();
                }
                out.push('9');
            }
            ' ' if out.ends_with("= ") || out.ends_with("[ ") => {}
            c => out.push(c),
        }
    }
    out
}

/// A line without what the moment decides: unit prefixes, which latency
/// classes there were, how percentiles fill their rows, process ids, dates.
fn layout(line: &str) -> String {
    let line = iosonde_testing::fio_text::as_in_3_42(line);
    let line = digits_as_one(line.split(": pid=").next().unwrap());
    if line.starts_with("  lat (") {
        return "  lat ( ...".into();
    }
    // Three or four to a row, by how wide the values come out.
    if line.starts_with("     | ") {
        return "     | ...".into();
    }
    let units = ["(nsec)", "(usec)", "KiB", "MiB", "GiB", "kB", "MB", "GB"];
    units
        .iter()
        .fold(line, |line, unit| {
            line.replace(unit, if unit.contains("sec") { "(sec)" } else { "B" })
        })
        .replace("9.9B", "9B")
        .replace("IOPS=9.9k", "IOPS=9")
        .replace("IOPS=9k", "IOPS=9")
        .replace("9.9k", "9")
}

#[test]
fn normal_text_is_laid_out_as_fios() {
    let Some(text) = fio(&JOB) else { return };
    let begin = text.find("\nbeside: (groupid").expect("the job's line");
    let mine = fio_normal(&ours());
    let layouts = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(layout).collect();
        lines.dedup();
        lines
    };
    assert_eq!(layouts(&mine), layouts(&text[begin..]));
}

#[test]
fn opening_lines_are_fios() {
    let Some(text) = fio(&[&JOB[..], &["--bsrange=512-64k", "--numjobs=2"]].concat()) else {
        return;
    };
    let opening = Opening {
        name: "beside".into(),
        group: 0,
        rw: "randrw".into(),
        block_bytes: PerDir::all((512, 65_536)),
        bs_is_seq_rand: false,
        engine: "null".into(),
        depth: 4,
        clones: 2,
        units: TextUnits::default(),
        significant_figures: 4,
    };
    let version = fio(&["--version"]).unwrap();
    let mine = opening_lines(&[opening], version.trim_end()) + &starting_line(0, 2);
    assert!(text.starts_with(&mine), "ours\n{mine}theirs\n{text}");
}

#[test]
fn terse_has_as_many_fields_as_fios() {
    for (number, version) in [(2, "2"), (3, "3"), (4, "4"), (5, "5")] {
        let arguments = [&JOB[..], &["--output-format=terse", "--terse-version", version]].concat();
        let Some(text) = fio(&arguments) else { return };
        let mine = fio_terse(&ours(), TerseVersion::of(number).unwrap());
        let kinds = |line: &str| -> Vec<String> {
            line.split(';').map(|field| digits_as_one(field).replace("9.9", "f")).collect()
        };
        let (mine, theirs) = (kinds(mine.trim_end()), kinds(text.trim_end()));
        assert_eq!(mine.len(), theirs.len(), "version {version}");
        for (at, (mine, theirs)) in mine.iter().zip(&theirs).enumerate() {
            assert!(mine == theirs || at == 1 || at == 2, "v{version} field {at}: {mine} {theirs}");
        }
    }
}

#[test]
fn json_plus_has_bins_where_fio_has() {
    let arguments = [&JOB[..], &["--output-format=json+"]].concat();
    let Some(text) = fio(&arguments) else { return };
    let places = |text: &str| -> Vec<String> {
        let shapes = shape_of(text);
        shapes.into_iter().filter(|shape| shape.ends_with("/bins: object")).collect()
    };
    assert_eq!(places(&fio_json_plus(&ours(), &JsonOptions::default())), places(&text));
}
