//! What our formats write is read back: a document from what was read is the
//! document that was read.

use iosonde_report::finding::Severity;
use iosonde_report::formats::{JsonOptions, fio_json, fio_json_plus};
use iosonde_result::{ResultSource, read};
use iosonde_testing::schema::{sample, violations};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../docs/schema/result-1.json");

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

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The document of what a document is read as.
fn again(document: &Value) -> Value {
    let stored = read(&document.to_string()).unwrap_or_else(|error| panic!("{error}: {document}"));
    parsed(&fio_json(&stored.report, &JsonOptions { ours: true }))
}

#[test]
fn any_result_is_read_as_it_was_written() {
    let schema = parsed(SCHEMA);
    let with_defs = |name: &str| {
        let mut part = schema["$defs"][name].clone();
        part["$defs"] = schema["$defs"].clone();
        part
    };
    let (ours, job) = (with_defs("iosonde"), with_defs("OurJobDocument"));
    for seed in 0..300 {
        let mut document = parsed(GOLDEN[2].1);
        document["iosonde"] = sample(&ours, seed);
        document["iosonde"]["jobs"] = json!([sample(&job, seed)]);
        let written = again(&document);
        assert_eq!(violations(&schema, &written), [""; 0], "seed {seed}");
        let twice = again(&written);
        let (once, twice) = (written["iosonde"].to_string(), twice["iosonde"].to_string());
        assert!(once == twice, "seed {seed}");
    }
}

#[test]
fn what_only_a_newer_version_knows_stays_as_it_is() {
    let mut document = parsed(GOLDEN[2].1);
    let ours = &mut document["iosonde"];
    ours["conclusion"]["limited_by"] = "network".into();
    ours["more"] = json!({"a": [1]});
    let ledger = &mut ours["ledger"];
    ledger["devices"][0]["kind"] = "tape".into();
    ledger["machine"]["more_ns"] = 7.into();
    let finding = &mut ledger["verdict"][0];
    (finding["id"], finding["severity"]) = ("no-rule-of-ours".into(), "disaster".into());
    ours["hosts"] = json!([{"name": "h1", "rank": 0, "groups": []}]);
    ours["hosts_findings"] =
        json!([{"id": "other", "severity": "doubt", "statement": "s", "hosts": ["h1"]}]);

    let stored = read(&document.to_string()).unwrap();
    let verdict = &stored.report.ours.ledger.as_ref().unwrap().verdict;
    assert_eq!(verdict[0].severity, Severity::Other("disaster".into()));
    assert!(verdict[0].severity > Severity::Wrong, "it may be as bad as any");
    let written = again(&document);
    for place in [
        "/conclusion/limited_by",
        "/ledger/devices/0/kind",
        "/ledger/verdict/0/id",
        "/ledger/verdict/0/severity",
        "/hosts_findings/0/severity",
    ] {
        let place = format!("/iosonde{place}");
        assert_eq!(written.pointer(&place), document.pointer(&place), "{place}");
    }
}

/// Members of an object that each version has written: without them it is not that object.
const ALWAYS: [&str; 6] = ["version", "jobs", "limited_by", "id", "severity", "unknown"];

fn places_of_members(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    if let Value::Object(members) = value {
        for (key, member) in members {
            if !ALWAYS.contains(&key.as_str()) {
                found.push((at.to_owned(), key.clone()));
            }
            places_of_members(member, &format!("{at}/{key}"), found);
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate().take(1) {
        places_of_members(item, &format!("{at}/{index}"), found);
    }
}

#[test]
fn a_result_that_lacks_any_member_is_read_without_it() {
    let document = parsed(GOLDEN[2].1);
    let mut places = Vec::new();
    places_of_members(&document["iosonde"], "/iosonde", &mut places);
    assert!(places.len() > 100, "{}", places.len());
    for (at, key) in places {
        let mut older = document.clone();
        older.pointer_mut(&at).unwrap().as_object_mut().unwrap().remove(&key);
        let read_as = read(&older.to_string());
        assert!(read_as.is_ok(), "{at}/{key}: {}", read_as.unwrap_err());
    }
}

#[test]
fn what_is_of_another_type_is_refused_with_its_place() {
    let mut document = parsed(GOLDEN[2].1);
    document["iosonde"]["ledger"]["machine"]["wall_ns"] = "long".into();
    let error = read(&document.to_string()).unwrap_err().to_string();
    assert!(error.starts_with("iosonde.ledger.machine.wall_ns cannot be read: "), "{error}");
    // Other programs write 6e9 where we write 6000000000, and null where we write nothing.
    document["iosonde"]["ledger"]["machine"] = json!({"wall_ns": 6e9, "stopped_ns": null});
    assert_eq!(again(&document)["iosonde"]["ledger"]["machine"]["wall_ns"], 6_000_000_000u64);
}
