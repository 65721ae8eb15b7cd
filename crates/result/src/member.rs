//! Members of a document, by type; what the document lacks is zero or `None`.

use iosonde_report::OptionTexts;
use serde_json::Value;

/// No figure is more: 64 PiB, or two years in nanoseconds. 255 of them add up in 64
/// bits.
pub(crate) const MOST: u64 = 1 << 56;

/// A figure that is made of others, as a whole number.
pub(crate) fn rounded(float: f64) -> u64 {
    // Below zero and NaN are 0.
    (float.round() as u64).min(MOST)
}

/// A figure in a smaller unit.
pub(crate) fn times(figure: u64, units: u64) -> u64 {
    figure.saturating_mul(units).min(MOST)
}

/// A whole number; of a float its whole part.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    // A float that does not fit is cut to the ends of the range.
    value.as_u64().or_else(|| value.as_f64().map(|float| float as u64))
}

/// A whole number, zero if the document lacks it.
pub(crate) fn count(of: &Value, key: &str) -> u64 {
    whole(&of[key]).unwrap_or(0)
}

/// A number, zero if the document lacks it.
pub(crate) fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or(0.0)
}

/// A text, empty if the document lacks it.
pub(crate) fn text(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}

/// A list, empty if the document lacks it.
pub(crate) fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Options as they are written: names and texts.
pub(crate) fn option_texts(options: &Value) -> OptionTexts {
    let members = options.as_object().into_iter().flatten();
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    members.map(|(name, value)| (name.clone(), text(value))).collect()
}

/// I/Os of a rate over a time.
pub(crate) fn number_of_ios(iops: f64, ns: u64) -> u64 {
    rounded(iops * ns as f64 / 1e9)
}

/// Add a note once.
pub(crate) fn note(notes: &mut Vec<String>, words: &str) {
    if !notes.iter().any(|note| note == words) {
        notes.push(words.to_owned());
    }
}
