//! Each format over fixed reports. `UPDATE=1` writes the files anew; they are
//! read in review like code.

mod common;

use common::{crowd, judged, mixed, rare, several};
use iosonde_report::Report;
use iosonde_report::formats::*;
use std::path::Path;

fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = golden.lines().zip(text.lines()).position(|(a, b)| a != b);
    if golden != text {
        let at = differs.unwrap_or(golden.lines().count().min(text.lines().count()));
        let line = |text: &str| text.lines().nth(at).unwrap_or("(end)").to_string();
        panic!(
            "{name}:{} differs (UPDATE=1 accepts it)\n golden {}\n    now {}",
            at + 1,
            line(&golden),
            line(text)
        );
    }
}

fn all() -> [(&'static str, Report); 3] {
    [("mixed", mixed()), ("several", several()), ("rare", rare())]
}

#[test]
fn fio_normal_is_as_reviewed() {
    all().iter().for_each(|(name, report)| check(&format!("{name}.txt"), &fio_normal(report)));
}

#[test]
fn fio_json_is_as_reviewed() {
    let plain = JsonOptions::default();
    all().iter().for_each(|(name, report)| {
        check(&format!("{name}.json"), &fio_json(report, &plain));
    });
    check("mixed-ours.json", &fio_json(&mixed(), &JsonOptions { ours: true }));
    check("judged.json", &fio_json(&judged(), &JsonOptions { ours: true }));
    check("several-plus.json", &fio_json_plus(&several(), &plain));
}

#[test]
fn fio_terse_is_as_reviewed() {
    for number in 2..=5 {
        let version = TerseVersion::of(number).unwrap();
        let text: String = all().iter().map(|(_, report)| fio_terse(report, version)).collect();
        check(&format!("terse-v{number}.txt"), &text);
    }
}

#[test]
fn csv_and_markdown_are_as_reviewed() {
    let reports = [mixed(), several(), rare(), judged()];
    check("all.csv", &reports.iter().map(csv).collect::<String>());
    check("all.md", &reports.iter().map(markdown).collect::<Vec<_>>().join("\n---\n\n"));
}

/// The schema of a result is a document of its own, and each golden document is as it says.
#[test]
fn each_golden_document_is_as_the_schema_says() {
    let schema = include_str!("../../../docs/schema/result-1.json");
    let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
    assert_eq!(
        schema["$defs"]["iosonde"]["properties"]["schema"]["enum"][0],
        iosonde_report::document::SCHEMA
    );
    for report in [mixed(), several(), rare(), judged()] {
        for text in [
            fio_json(&report, &JsonOptions { ours: true }),
            fio_json_plus(&report, &JsonOptions { ours: true }),
        ] {
            let document: serde_json::Value = serde_json::from_str(&text).unwrap();
            let found = iosonde_testing::schema::violations(&schema, &document);
            assert!(found.is_empty(), "{}", found.join("\n"));
        }
    }
}

#[test]
fn native_is_as_reviewed() {
    for (name, report) in all() {
        check(&format!("{name}-native.txt"), &native(&report, &Style::default()));
    }
    check("judged-native.txt", &native(&judged(), &Style { unicode: true, ..Style::default() }));
    let verbose = Style { verbose: true, ..Style::default() };
    check("judged-verbose.txt", &native(&judged(), &verbose));
    check("judged-below-fio.txt", &ledger_text(&judged(), &Style::default()));
    let coloured = Style { colour: true, columns: 80, ..Style::default() };
    check("mixed-native-colour.txt", &native(&mixed(), &coloured));
    let wide = Style { columns: 120, ..Style::default() };
    check("several-native-wide.txt", &native(&several(), &wide));
    check("crowd-native.txt", &native(&crowd(), &Style::default()));
    check("crowd-verbose.txt", &native(&crowd(), &verbose));
    check("crowd.md", &markdown(&crowd()));
}

#[test]
fn no_line_of_the_native_report_is_wider_than_asked_and_no_number_loses_its_unit() {
    let report = mixed();
    for columns in [40, 60, 73, 79, 80, 120] {
        let text = native(&report, &Style { columns, ..Style::default() });
        for line in text.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
            let first = line.split_whitespace().next().unwrap_or_default();
            // The head of the first table begins with IOPS and has no numbers.
            let is_head = line.contains("bandwidth");
            let units = ["MiB/s", "KiB/s", "us", "ms", "%", "IOPS"];
            assert!(is_head || !units.contains(&first), "{columns}: {line}");
        }
        assert!(text.contains("1.17 MiB/s") && text.contains("25.2 us"), "{columns}: {text}");
    }
}
