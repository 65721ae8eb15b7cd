//! Numbers of the table: `64m`, `5%`, names of truths.

use serde_json::Value;
use std::collections::BTreeMap;

/// What is known without the ledger, by name.
pub(crate) type Truths = BTreeMap<String, f64>;

/// A number, with `k`, `m` or `g` in powers of 1024.
pub(crate) fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.chars().last()? {
        'k' => (&text[..text.len() - 1], 1024.0),
        'm' => (&text[..text.len() - 1], 1024.0 * 1024.0),
        'g' => (&text[..text.len() - 1], 1024.0 * 1024.0 * 1024.0),
        _ => (text, 1.0),
    };
    digits.parse::<f64>().ok().map(|number| number * factor)
}

/// `A`, `A * B`, `A / B`, `A + B`, `A - B` of numbers, truths and places of the report (`/jobs/0/...`).
pub(crate) fn of_words(words: &str, document: &Value, truths: &Truths) -> Result<f64, String> {
    if let Some((one, other)) = words.rsplit_once(" / ") {
        return Ok(of_words(one, document, truths)? / of_words(other, document, truths)?);
    }
    if let Some((one, other)) = words.split_once(" * ") {
        return Ok(of_words(one, document, truths)? * of_words(other, document, truths)?);
    }
    if let Some((one, other)) = words.split_once(" + ") {
        return Ok(of_words(one, document, truths)? + of_words(other, document, truths)?);
    }
    if let Some((one, other)) = words.rsplit_once(" - ") {
        return Ok(of_words(one, document, truths)? - of_words(other, document, truths)?);
    }
    let word = words.trim();
    if let Some(number) = number(word) {
        return Ok(number);
    }
    if let Some(truth) = truths.get(word) {
        return Ok(*truth);
    }
    let found = at(word, document).and_then(Value::as_f64);
    found.ok_or(format!("{word} is not known: there are {:?}", truths.keys()))
}

/// A place in the report: `/jobs/0/read/bw_bytes`, or `reads.device_bytes` of the ledger.
pub(crate) fn at<'a>(path: &str, document: &'a Value) -> Option<&'a Value> {
    if path.starts_with('/') {
        document.pointer(path)
    } else {
        let path = path.replace('.', "/");
        document.pointer(&format!("/iosonde/ledger/{path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_truths_and_places_are_added_and_multiplied() {
        let document = json!({"a": [3], "iosonde": {"ledger": {"b": {"c": 5}}}});
        let truths = Truths::from([("disk.read".to_owned(), 7.0)]);
        let of = |words| of_words(words, &document, &truths);
        assert_eq!(of("2k"), Ok(2048.0));
        assert_eq!(of("0.5 * disk.read"), Ok(3.5));
        assert_eq!(of("disk.read / 2"), Ok(3.5));
        assert_eq!(of("/a/0 + b.c"), Ok(8.0));
        assert_eq!(of("disk.read - b.c - 1"), Ok(1.0));
        assert!(of("nothing").unwrap_err().contains("disk.read"));
    }
}
