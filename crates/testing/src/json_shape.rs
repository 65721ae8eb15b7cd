//! The form of a JSON document, to hold two programs' documents beside each other.

use serde_json::Value;

/// Every key with its place, in order, and the type of what it holds. What is in
/// an object in a place that ends with one of `closed` is left out.
pub fn json_shape(value: &Value, closed: &[&str]) -> Vec<String> {
    let mut shapes = Vec::new();
    add(value, "", closed, &mut shapes);
    shapes
}

fn add(value: &Value, place: &str, closed: &[&str], shapes: &mut Vec<String>) {
    let kind = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "text",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "integer",
        Value::Bool(_) | Value::Null => "other",
    };
    shapes.push(format!("{place}: {kind}"));
    match value {
        Value::Object(_) if closed.iter().any(|end| place.ends_with(end)) => {}
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(key, member)| add(member, &format!("{place}/{key}"), closed, shapes));
        }
        Value::Array(members) => {
            members.iter().for_each(|member| add(member, &format!("{place}[]"), closed, shapes));
        }
        _ => {}
    }
}
