//! What the fuzz targets of results do with their bytes. Shared with an ordinary
//! test.
#![allow(dead_code, reason = "each target uses its own part")]

use iosonde_report::Report;
use iosonde_report::formats::{
    JsonOptions, Style, TerseVersion, csv, fio_json, fio_json_plus, fio_normal, fio_terse,
    ledger_text, markdown, native,
};
use iosonde_result::{ResultSource, StoredResult, read};
use iosonde_testing::schema::violations;
use serde_json::Value;
use std::sync::LazyLock;

/// Any bytes are a result: it is read or refused. What was read can be written in
/// each format, and the document of it is read as a result with the same jobs.
pub fn result(data: &[u8]) {
    let Some(stored) = stored(data) else { return };
    let report = &stored.report;
    let style = Style { verbose: true, ..Style::default() };
    for text in [native(report, &style), fio_normal(report), csv(report), markdown(report)] {
        assert!(!text.is_empty());
    }
    ledger_text(report, &style);
    for version in (2..=5).filter_map(TerseVersion::of) {
        fio_terse(report, version);
    }
    for document in documents(&stored) {
        let again = read(&document).unwrap_or_else(|error| panic!("{error}: {document}"));
        let jobs = |of: &Report| -> Vec<(String, [u64; 3])> {
            of.jobs
                .iter()
                .map(|job| (job.name.clone(), job.dirs.0.each_ref().map(|dir| dir.io_bytes)))
                .collect()
        };
        assert_eq!(jobs(&again.report), jobs(report));
    }
}

/// Any bytes are a document: what the schema says of it is a list, and what the
/// program writes of it is as the schema says.
pub fn schema(data: &[u8]) {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let schema = include_str!("../../docs/schema/result-1.json");
        serde_json::from_str(schema).expect("the schema is a document")
    });
    if let Ok(document) = serde_json::from_slice::<Value>(data.get(1..).unwrap_or_default()) {
        let found = violations(&SCHEMA, &document);
        assert!(found.iter().all(|line| line.starts_with('$')), "{found:?}");
    }
    let Some(stored) = stored(data) else { return };
    for text in documents(&stored) {
        let document = serde_json::from_str(&text).expect("what was written is a document");
        let found = violations(&SCHEMA, &document);
        assert!(found.is_empty(), "{}\n{text}", found.join("\n"));
    }
}

/// The first byte is 0: the others are a result. Otherwise it chooses a result, and
/// the others are changes of its members.
fn stored(data: &[u8]) -> Option<StoredResult> {
    let (&choice, rest) = data.split_first()?;
    let text = match usize::from(choice).checked_sub(1) {
        None => String::from_utf8(rest.to_vec()).ok()?,
        Some(choice) => changed(RESULTS[choice % RESULTS.len()], rest),
    };
    match read(&text) {
        Ok(stored) => Some(stored),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// Results of fio and of ours.
pub const RESULTS: [&str; 7] = [
    include_str!("../../crates/result/tests/documents/fio-2.1.json"),
    include_str!("../../crates/result/tests/documents/fio-2.21.json"),
    include_str!("../../crates/result/tests/documents/fio-3.33.json"),
    include_str!("../../crates/result/tests/documents/fio-3.43-client.json"),
    include_str!("../../crates/report/tests/golden/judged.json"),
    include_str!("../../crates/report/tests/golden/several-plus.json"),
    include_str!("../../crates/report/tests/golden/rare.json"),
];

/// What a member may be that it should not.
const VALUES: [&str; 16] = [
    "null",
    "true",
    "0",
    "1",
    "-1",
    "0.5",
    "-1e308",
    "1e308",
    "18446744073709551615",
    "9223372036854775808",
    "4294967296",
    "\"\"",
    "\"read\"",
    "[]",
    "[7]",
    "{}",
];

/// A result with members replaced: three bytes a change, two for which member, one
/// for the value.
fn changed(text: &str, changes: &[u8]) -> String {
    // Notes before it may have braces too.
    let begins = |at: &usize| text[at + 1..].trim_start().starts_with('"');
    let braces = text.match_indices('{').map(|(at, _)| at);
    let start = braces.into_iter().find(begins).expect("there is a document");
    let mut document: Value = serde_json::from_str(&text[start..]).expect("it is one");
    for &[high, low, value] in changes.as_chunks().0.iter().take(32) {
        let mut members = Vec::new();
        pointers(&document, &mut String::new(), &mut members);
        let pointer = &members[usize::from(u16::from_be_bytes([high, low])) % members.len()];
        let value = VALUES[usize::from(value) % VALUES.len()];
        if let Some(member) = document.pointer_mut(pointer) {
            *member = serde_json::from_str(value).expect("it is a value");
        }
    }
    document.to_string()
}

/// The places of all members, the document itself first.
fn pointers(value: &Value, at: &mut String, found: &mut Vec<String>) {
    found.push(at.clone());
    let length = at.len();
    let mut within = |key: &str, member: &Value| {
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        pointers(member, at, found);
        at.truncate(length);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, member)| within(key, member)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| within(&index.to_string(), item));
        }
        _ => {}
    }
}

/// What the program writes of a result: the object `iosonde` where it has one.
fn documents(stored: &StoredResult) -> [String; 2] {
    let ours = matches!(stored.source, ResultSource::Iosonde { .. });
    [fio_json, fio_json_plus].map(|write| write(&stored.report, &JsonOptions { ours }))
}
