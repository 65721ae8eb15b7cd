//! What our formats write is read back: a document from what was read is the
//! document that was read.

use iosonde_report::formats::{JsonOptions, fio_json, fio_json_plus};
use iosonde_result::{ResultSource, read};
use serde_json::Value;

const GOLDEN: [(&str, &str); 6] = [
    ("mixed.json", include_str!("../../report/tests/golden/mixed.json")),
    ("mixed-ours.json", include_str!("../../report/tests/golden/mixed-ours.json")),
    ("judged.json", include_str!("../../report/tests/golden/judged.json")),
    ("several.json", include_str!("../../report/tests/golden/several.json")),
    ("several-plus.json", include_str!("../../report/tests/golden/several-plus.json")),
    ("rare.json", include_str!("../../report/tests/golden/rare.json")),
];

/// Keys that a report keeps as counts, or not at all.
const NOT_KEPT: [&str; 12] = [
    "time",
    "iodepth_submit",
    "iodepth_complete",
    "latency_ns",
    "latency_us",
    "latency_ms",
    "steadystate",
    "block",
    "zone_resets",
    "cpu_idleness",
    "disk_util",
    "latency_window_us",
];

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            NOT_KEPT.iter().for_each(|key| drop(members.remove(*key)));
            members.values_mut().for_each(strip);
        }
        Value::Array(members) => members.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Places at which two documents differ.
fn differences(at: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: std::collections::BTreeSet<&String> =
                left.keys().chain(right.keys()).collect();
            for key in keys {
                let (left, right) = (&one[key.as_str()], &other[key.as_str()]);
                differences(&format!("{at}.{key}"), left, right, found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differences(&format!("{at}[{index}]"), left, right, found);
            }
        }
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64().unwrap(), right.as_f64().unwrap());
            if (left - right).abs() > 1e-5 * left.abs().max(1.0) {
                found.push(format!("{at}: {left} and {right}"));
            }
        }
        _ if one == other => {}
        _ => found.push(format!("{at}: {one} and {other}")),
    }
}

#[test]
fn a_document_written_from_what_was_read_is_the_one_that_was_read() {
    for (name, text) in GOLDEN {
        let stored = read(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let ours = matches!(stored.source, ResultSource::Iosonde { .. });
        let write = if name.contains("plus") { fio_json_plus } else { fio_json };
        let again = write(&stored.report, &JsonOptions { ours });
        let mut before: Value = serde_json::from_str(text).unwrap();
        let mut after: Value = serde_json::from_str(&again).unwrap();
        strip(&mut before);
        strip(&mut after);
        let mut found = Vec::new();
        differences("", &before, &after, &mut found);
        assert!(found.is_empty(), "{name}:\n{}", found.join("\n"));
    }
}
