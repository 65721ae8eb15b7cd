//! Where in a document that cannot be read the fault lies.
//!
//! A document is read from its begin to its first fault. So the shortest part, from the begin, that
//! fails in the same way ends at the culprit. It takes some twenty attempts, of documents that
//! fail; a reader that knows its place at any time takes 0.3 MB of code, for all.

use serde_json::{Map, Value};

/// The path of the first value with which a part of `document` `fails` as all of it does:
/// `jobs[0].name`.
pub(crate) fn path(document: &Value, fails: impl Fn(&Value) -> bool) -> String {
    // With `most` leaves it fails, with fewer than `fewest` it does not.
    let (mut fewest, mut most) = (0, leaves(document));
    while fewest < most {
        let middle = fewest.midpoint(most);
        if fails(&beginning(document, &mut middle.clone())) {
            most = middle
        } else {
            fewest = middle + 1
        }
    }
    let mut path = String::new();
    last_leaf(document, &mut most, &mut path);
    path
}

/// Values without parts: numbers, texts, empty lists.
fn leaves(value: &Value) -> usize {
    let parts: usize = match value {
        Value::Object(members) => members.values().map(leaves).sum(),
        Value::Array(items) => items.iter().map(leaves).sum(),
        _ => 0,
    };
    parts.max(1)
}

/// The value with its first `left` leaves only. Counts down what it takes.
fn beginning(value: &Value, left: &mut usize) -> Value {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let mut some = Map::new();
            for (name, member) in members {
                if *left == 0 {
                    break;
                }
                some.insert(name.clone(), beginning(member, left));
            }
            Value::Object(some)
        }
        Value::Array(items) if !items.is_empty() => {
            let mut some = Vec::new();
            for item in items {
                if *left == 0 {
                    break;
                }
                some.push(beginning(item, left));
            }
            Value::Array(some)
        }
        leaf => {
            *left = left.saturating_sub(1);
            leaf.clone()
        }
    }
}

/// Append the path of leaf number `left`, counted from 1. Whether it is in this value; if not, its
/// leaves are counted down.
fn last_leaf(value: &Value, left: &mut usize, path: &mut String) -> bool {
    let whole = path.len();
    match value {
        Value::Object(members) if !members.is_empty() => members.iter().any(|(name, member)| {
            path.truncate(whole);
            if whole > 0 {
                path.push('.');
            }
            path.push_str(name);
            last_leaf(member, left, path)
        }),
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().any(|(index, item)| {
                path.truncate(whole);
                path.push_str(&format!("[{index}]"));
                last_leaf(item, left, path)
            })
        }
        _ => {
            *left = left.saturating_sub(1);
            *left == 0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_path_ends_at_the_first_value_that_fails() {
        let document = json!({
            "a": 1, "jobs": [{ "name": "x", "ios": [] }, { "name": "y", "ios": [1, 2, "three"] }], "z": "bad too",
        });
        let fails = |part: &Value| part.to_string().contains("three");
        assert_eq!(path(&document, fails), "jobs[1].ios[2]");
        assert_eq!(path(&document, |part| part["jobs"][1]["name"] == "y"), "jobs[1].name");
        assert_eq!(path(&document, |part| part["jobs"][0].get("ios").is_some()), "jobs[0].ios");
        assert_eq!(path(&document, |_| true), "a");
        assert_eq!(path(&json!(7), |_| true), "");
    }
}
