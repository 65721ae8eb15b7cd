//! A check of JSON documents against a JSON Schema, as far as our own schemas
//! go: `type`, `properties`, `required`, `additionalProperties`, `items`,
//! `minItems`, `maxItems`, `enum`, `minimum`, `anyOf` and `$ref` within the document. A keyword that is
//! none of these and no description is refused, so that no rule is skipped.

use crate::mutate::Random;
use serde_json::Value;

/// What in `document` is not as `schema` says, with its place; empty if all is.
pub fn violations(schema: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Checker { root: schema }.check(schema, document, "$", &mut found);
    found
}

struct Checker<'a> {
    root: &'a Value,
}

const KNOWN: [&str; 16] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "unit",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "minimum",
    "anyOf",
    "minItems",
    "maxItems",
];

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let keywords = schema.as_object().expect("a schema is an object");
        for keyword in keywords.keys() {
            assert!(KNOWN.contains(&keyword.as_str()), "unknown keyword {keyword} at {place}");
        }
        if let Some(path) = schema["$ref"].as_str() {
            let pointer = path.strip_prefix('#').expect("references are within the schema");
            let target = self.root.pointer(pointer).unwrap_or_else(|| panic!("{path} is missing"));
            self.check(target, value, place, found);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            self.check_any(choices, value, place, found);
        }
        let types = &schema["type"];
        if !types.is_null() && !has_type(types, value) {
            found.push(format!("{place}: {value} is not of type {types}"));
            return;
        }
        if let Some(allowed) = schema["enum"].as_array().filter(|all| !all.contains(value)) {
            found.push(format!("{place}: {value} is not one of {allowed:?}"));
        }
        let below = schema["minimum"].as_f64().zip(value.as_f64()).filter(|(least, is)| is < least);
        if let Some((least, is)) = below {
            found.push(format!("{place}: {is} is below {least}"));
        }
        self.check_members(schema, value, place, found);
        if let Some(items) = value.as_array() {
            let (least, most) = lengths(schema);
            if items.len() < least || items.len() > most {
                found.push(format!("{place}: {} items are not {least} to {most}", items.len()));
            }
        }
        let items = value.as_array().into_iter().flatten().enumerate();
        for (at, item) in items.filter(|_| schema["items"].is_object()) {
            self.check(&schema["items"], item, &format!("{place}[{at}]"), found);
        }
    }

    fn check_any(&self, choices: &[Value], value: &Value, place: &str, found: &mut Vec<String>) {
        let mut least: Option<Vec<String>> = None;
        for choice in choices {
            let mut wrong = Vec::new();
            self.check(choice, value, place, &mut wrong);
            if wrong.is_empty() {
                return;
            }
            if least.as_ref().is_none_or(|least| wrong.len() < least.len()) {
                least = Some(wrong);
            }
        }
        found.extend(least.unwrap_or_default());
    }

    fn check_members(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let Some(members) = value.as_object() else { return };
        for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(key) {
                found.push(format!("{place}.{key} is missing"));
            }
        }
        for (key, member) in members {
            let (place, named) = (format!("{place}.{key}"), &schema["properties"][key.as_str()]);
            match (named, &schema["additionalProperties"]) {
                (Value::Object(_), _) => self.check(named, member, &place, found),
                (_, Value::Bool(false)) => found.push(format!("{place} is not in the schema")),
                (_, other @ Value::Object(_)) => self.check(other, member, &place, found),
                _ => {}
            }
        }
    }
}

/// How many items a list may have.
fn lengths(schema: &Value) -> (usize, usize) {
    let of = |key: &str| schema[key].as_u64().map(|length| length as usize);
    (of("minItems").unwrap_or(0), of("maxItems").unwrap_or(usize::MAX))
}

/// A document as a schema allows it; each seed gives another.
pub fn sample(schema: &Value, seed: u64) -> Value {
    let mut random = Random(seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15));
    Sampler { root: schema, random: &mut random }.value(schema)
}

struct Sampler<'a> {
    root: &'a Value,
    random: &'a mut Random,
}

impl Sampler<'_> {
    fn value(&mut self, schema: &Value) -> Value {
        if let Some(path) = schema["$ref"].as_str() {
            let target = self.root.pointer(path.trim_start_matches('#')).expect("it is within");
            return self.value(target);
        }
        if let Some(choices) = schema["anyOf"].as_array().or(schema["enum"].as_array()) {
            let choice = &choices[self.random.below(choices.len())];
            return if schema["enum"].is_array() { choice.clone() } else { self.value(choice) };
        }
        let name = match &schema["type"] {
            Value::Array(names) => &names[self.random.below(names.len())],
            name => name,
        };
        match name.as_str() {
            Some("object") => self.object(schema),
            Some("array") => {
                let (least, most) = lengths(schema);
                let length = least + self.random.below(most.saturating_sub(least).min(3) + 1);
                (0..length).map(|_| self.value(&schema["items"])).collect()
            }
            Some("string") => {
                const TEXTS: [&str; 4] = ["", "a", "with \"quotes\" and\n lines", "\u{fc}\u{4e2d}"];
                TEXTS[self.random.below(TEXTS.len())].into()
            }
            Some("boolean") => (self.random.below(2) == 1).into(),
            Some("integer") => {
                let bits = self.random.below(32);
                let number = self.random.below(1 << bits) as i64;
                let sign = if schema["minimum"].is_null() && bits % 2 == 1 { -1 } else { 1 };
                (sign * number).into()
            }
            Some("number") => (self.random.below(1 << 40) as f64 / 7e6).into(),
            _ => Value::Null,
        }
    }

    fn object(&mut self, schema: &Value) -> Value {
        let mut members = serde_json::Map::new();
        let required = schema["required"].as_array();
        for (key, member) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.is_some_and(|keys| keys.iter().any(|one| one == key));
            if is_required || self.random.below(2) == 1 {
                members.insert(key.clone(), self.value(member));
            }
        }
        if schema["additionalProperties"].is_object() {
            for key in ["10.000000", "20.000000"] {
                members.insert(key.to_owned(), self.value(&schema["additionalProperties"]));
            }
        }
        members.into()
    }
}

/// Whether a value is of a type, or of one of several.
fn has_type(types: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("unknown type {other}"),
    };
    match types {
        Value::Array(all) => all.iter().filter_map(Value::as_str).any(is),
        one => is(one.as_str().expect("a type is a name or a list of them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_breaks_a_rule_is_named_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 0},
                "kind": {"enum": ["a", "b"]},
                "list": {"type": "array", "maxItems": 2, "items": {"$ref": "#/$defs/known"}},
            },
            "required": ["n"],
            "additionalProperties": false,
            "$defs": {"known": {"anyOf": [{"type": "number"}, {"type": "object"}]}},
        });
        let good = json!({"n": 1, "kind": "b", "list": [1.5, {}]});
        assert_eq!(violations(&schema, &good), [""; 0]);
        for seed in 0..20 {
            assert_eq!(violations(&schema, &sample(&schema, seed)), [""; 0], "seed {seed}");
        }
        for (bad, words) in [
            (json!([]), "$: [] is not of type"),
            (json!({}), "$.n is missing"),
            (json!({"n": -1}), "$.n: -1 is below 0"),
            (json!({"n": 1.5}), "$.n: 1.5 is not of type"),
            (json!({"n": 1, "kind": "c"}), "$.kind: \"c\" is not one of"),
            (json!({"n": 1, "list": ["x"]}), "$.list[0]: \"x\" is not of type"),
            (json!({"n": 1, "list": [1, 2, 3]}), "$.list: 3 items"),
            (json!({"n": 1, "more": 1}), "$.more is not in the schema"),
        ] {
            let found = violations(&schema, &bad);
            assert!(found.iter().any(|line| line.starts_with(words)), "{bad}: {found:?}");
        }
    }
}
