//! `docs/schema/result-1.json`: the schema of a result, from the types that write and read it.

use iosonde_report::document;
use serde_json::{Map, Value, json};

/// The schema of fio's document with our object in it.
pub fn schema() -> Value {
    let mut ours = document::schema().to_value();
    let mut definitions = match ours.get_mut("$defs").map(Value::take) {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    if let Some(members) = ours.as_object_mut() {
        members.retain(|key, _| !matches!(key.as_str(), "$schema" | "$defs" | "title"));
    }
    definitions.shift_insert(0, "iosonde".to_owned(), ours);
    definitions.values_mut().for_each(tidy);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Result of iosonde",
        "description": "fio's JSON document with one key more, `iosonde`. fio's own keys are described in \
                        fio's manual; here only those that a reader needs are required.",
        "type": "object",
        "properties": {
            "fio version": {"type": "string", "description": "fio's version whose form this is."},
            "jobs": {"type": "array", "description": "fio's entries.", "items": {"type": "object"}},
            "iosonde": {"$ref": "#/$defs/iosonde", "description": "What iosonde adds."},
        },
        "required": ["fio version", "jobs"],
        "$defs": definitions,
    })
}

/// As text.
pub fn text() -> String {
    serde_json::to_string_pretty(&schema()).expect("keys are strings") + "\n"
}

/// Leaves out what only Rust's types say, joins the lines of comments, adds the unit that the
/// name of a member ends with, and allows no member that is not listed.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for noise in ["format", "default", "maximum"] {
                members.shift_remove(noise);
            }
            if let Some(Value::String(words)) = members.get_mut("description") {
                *words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            if let Some(pair) = members.shift_remove("prefixItems") {
                members.insert("items".to_owned(), pair[0].clone());
            }
            for (key, member) in members.iter_mut() {
                match (key.as_str(), member) {
                    ("properties", Value::Object(properties)) => {
                        properties.iter_mut().for_each(|(name, member)| describe(member, name));
                    }
                    (_, member) => tidy(member),
                }
            }
            let required = members.get("required").cloned().unwrap_or_default();
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                let is_required = |name: &String| {
                    required.as_array().is_some_and(|all| all.iter().any(|one| one == name))
                };
                let optional = properties.iter_mut().filter(|(name, _)| !is_required(name));
                optional.for_each(|(_, member)| never_null(member));
                members.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// A member that is left out where it has no value is never `null`.
fn never_null(member: &mut Value) {
    if let Some(Value::Array(types)) = member.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            member["type"] = only.clone();
        }
    }
    let Some(choices) = member.get_mut("anyOf").map(Value::take) else { return };
    let choices = choices.as_array().cloned().unwrap_or_default().into_iter();
    let choices: Vec<Value> = choices.filter(|choice| choice["type"] != "null").collect();
    match (choices.as_slice(), member.as_object_mut()) {
        ([Value::Object(only)], Some(members)) => {
            members.shift_remove("anyOf");
            for (key, value) in only {
                members.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        _ => member["anyOf"] = choices.into(),
    }
}

/// A member, with its unit.
fn describe(member: &mut Value, name: &str) {
    tidy(member);
    let text = member.to_string();
    let is_figure = text.contains("\"integer\"") || text.contains("\"number\"");
    if let (Some(members), Some(unit), true) = (member.as_object_mut(), unit(name), is_figure)
        && !members.contains_key("unit")
    {
        members.insert("unit".to_owned(), unit.into());
    }
}

/// What a member is measured in, by the end of its name.
fn unit(name: &str) -> Option<&'static str> {
    const ENDS: [(&str, &str); 16] = [
        ("bytes_per_s", "bytes/s"),
        ("bytes_per_byte", "bytes per byte"),
        ("ns_per_io", "ns per I/O"),
        ("requests_per_read", "requests per read"),
        ("bytes_min", "bytes"),
        ("bytes_max", "bytes"),
        ("bytes", "bytes"),
        ("share", "share, 0 to 1"),
        ("iops", "I/Os/s"),
        ("ios", "I/Os"),
        ("errors", "I/Os"),
        ("ns", "ns"),
        ("us", "us"),
        ("cpus", "processors"),
        ("offset", "bytes"),
        ("N", "values"),
    ];
    let is_end = |end: &str| {
        name.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    ENDS.into_iter().find(|(end, _)| is_end(end)).map(|(_, unit)| unit)
}
