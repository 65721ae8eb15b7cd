//! Figures that no run has: bounded, so that sums of them fit their types.

use crate::member;
use serde_json::Value;

const MOST: i64 = member::MOST as i64;
/// A moment in nanoseconds since 1970, until 2262.
const MOST_UNIX_NS: i64 = i64::MAX;

/// Bound all figures of a document; the note on those that were changed.
pub(crate) fn bound(document: &mut Value) -> Option<String> {
    let mut changed = Vec::new();
    bound_within(document, "", &mut changed);
    let (first, number) = (changed.first()?, changed.len());
    let more = if number > 1 { format!(" and {} more", number - 1) } else { String::new() };
    Some(format!("{first}{more} exceeds 2^56, which no run has: it is read as 2^56"))
}

fn bound_within(value: &mut Value, key: &str, changed: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter_mut().for_each(|(key, member)| bound_within(member, key, changed));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| bound_within(item, key, changed)),
        // A seed is no amount: it may have any bits.
        Value::Number(_) if key == "seed" => {}
        Value::Number(number) => {
            let most = if key.ends_with("_unix_ns") { MOST_UNIX_NS } else { MOST };
            let whole = number.as_i64();
            let beyond = match (whole, number.as_f64()) {
                (Some(whole), _) => whole > most || whole < -most,
                // It is u64, or has a fraction.
                (None, Some(float)) => float.abs() > most as f64,
                (None, None) => false,
            };
            if beyond {
                let is_negative = number.as_f64().is_some_and(|float| float < 0.0);
                *value = Value::from(if is_negative { -most } else { most });
                changed.push(key.to_owned());
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_that_no_run_has_are_bounded_and_noted() {
        let max = u64::MAX;
        let mut document = json!({
            "read": {"io_bytes": max, "bw": -1e300, "bins": [1, max]},
            "seed": max, "began_unix_ns": 1_795_244_443_000_000_000u64, "runtime": 1u64 << 56,
        });
        let note = bound(&mut document);
        assert_eq!(
            note.as_deref(),
            Some("io_bytes and 2 more exceeds 2^56, which no run has: it is read as 2^56")
        );
        let wanted = json!({
            "read": {"io_bytes": MOST, "bw": -MOST, "bins": [1, MOST]},
            "seed": max, "began_unix_ns": 1_795_244_443_000_000_000u64, "runtime": 1u64 << 56,
        });
        assert_eq!(document, wanted);
        assert_eq!(bound(&mut document), None);
    }
}
