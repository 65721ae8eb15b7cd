//! JSON with fio's spacing: `"key" : value`, two blanks a level, floats with
//! six decimals.

use serde_json::Value;

/// A document with fio's spacing, ended by a line feed.
pub(super) fn document(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text.push('\n');
    text
}

/// Members that are long lists of whole numbers, none of them fio's: on one line.
const COMPACT: [&str; 2] = ["series", "latency_bins"];

fn write(value: &Value, level: usize, text: &mut String) {
    match value {
        Value::Object(members) => {
            text.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                new_line(at > 0, level + 1, text);
                // A `Value`'s own text is compact JSON: quoted and escaped.
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(" : ");
                if COMPACT.contains(&key.as_str()) {
                    text.push_str(&member.to_string())
                } else {
                    write(member, level + 1, text)
                }
            }
            new_line(false, level, text);
            text.push('}');
        }
        Value::Array(members) => {
            text.push('[');
            for (at, member) in members.iter().enumerate() {
                new_line(at > 0, level + 1, text);
                write(member, level + 1, text);
            }
            new_line(false, level, text);
            text.push(']');
        }
        Value::Number(number) if number.is_f64() => {
            text.push_str(&format!("{:.6}", number.as_f64().expect("just asked")));
        }
        leaf => text.push_str(&leaf.to_string()),
    }
}

fn new_line(after_another: bool, level: usize, text: &mut String) {
    if after_another {
        text.push(',');
    }
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", level));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn spacing_is_fios() {
        let value = json!({"a": 1, "b": {"c": 2.5, "d": "x\"y\t"}, "e": [1, {}]});
        let text = "{\n  \"a\" : 1,\n  \"b\" : {\n    \"c\" : 2.500000,\n    \"d\" : \"x\\\"y\\t\"\n  \
                    },\n  \"e\" : [\n    1,\n    {\n    }\n  ]\n}\n";
        assert_eq!(document(&value), text);
        let series = json!({"series": {"bytes": [1, null, 3]}});
        assert_eq!(document(&series), "{\n  \"series\" : {\"bytes\":[1,null,3]}\n}\n");
    }
}
