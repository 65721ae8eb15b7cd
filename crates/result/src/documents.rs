//! The JSON documents in a text: fio and its wrappers print lines around them.

use crate::ReadError;
use serde_json::{Deserializer, Value};

/// The document of a text, and remarks on what stands around it.
pub(crate) struct Found {
    pub document: Value,
    pub notes: Vec<String>,
}

/// The last whole document.
pub(crate) fn last(text: &str) -> Result<Found, ReadError> {
    let none = || ReadError::new("it contains no JSON object, so it is not a result");
    let mut refused: Option<Result<Found, ReadError>> = None;
    for start in beginnings(text) {
        match last_from(text, start) {
            Ok(found) if found.document.get("fio version").is_some() => return Ok(found),
            // Of a document that is cut off, its inner objects are no results either.
            other => drop(refused.get_or_insert(other)),
        }
    }
    refused.unwrap_or_else(|| Err(none()))
}

/// The last whole document of those that begin at `start`.
fn last_from(text: &str, start: usize) -> Result<Found, ReadError> {
    let mut last = None;
    let mut documents = Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let error = loop {
        match documents.next() {
            Some(Ok(value)) => last = Some(value),
            Some(Err(error)) => break Some(error),
            None => break None,
        }
    };
    let is_cut_off = error.as_ref().is_some_and(serde_json::Error::is_eof);
    let Some(document) = last else {
        let reason = error.map_or_else(String::new, |error| reason(&error, text, start));
        return Err(ReadError::new(reason));
    };
    // What follows a whole document may be anything; one that was begun is an error.
    let cut_off = "the last document is cut off; the one before it is used".to_owned();
    Ok(Found { document, notes: is_cut_off.then_some(cut_off).into_iter().collect() })
}

/// Where a document may begin: at a brace that begins a line, else at the first.
fn beginnings(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        let blanks = line.len() - line.trim_start().len();
        if line[blanks..].starts_with('{') {
            found.push(at + blanks);
        }
        at += line.len();
    }
    if found.is_empty() {
        text.find('{').into_iter().collect()
    } else {
        found.into_iter().take(BEGINNINGS_TRIED).collect()
    }
}

/// Notes with a brace before a document are rare.
const BEGINNINGS_TRIED: usize = 4;

fn reason(error: &serde_json::Error, text: &str, start: usize) -> String {
    let before = text[..start].matches('\n').count();
    let line = before + error.line();
    if error.is_eof() {
        format!("it is cut off: the document ends within an object in line {line}")
    } else {
        format!("invalid JSON in line {line}: {error}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Option<u64> {
        last(text).ok()?.document["n"].as_u64()
    }

    #[test]
    fn lines_around_a_document_are_skipped_and_the_last_of_several_counts() {
        assert_eq!(number("fio: note {x}\n{\"n\": 1}\n"), Some(1));
        assert_eq!(number("note: {\"n\": 7}"), Some(7));
        assert_eq!(number("{\"n\": 1}\n{\"n\": 2}\nfio: terminating\n"), Some(2));
    }

    #[test]
    fn what_is_cut_off_is_refused_or_told() {
        let whole_then_part = last("{\"n\": 1}\n{\"n\": ").unwrap();
        assert_eq!(whole_then_part.document["n"], 1);
        assert_eq!(whole_then_part.notes.len(), 1);
        let part = last("{\n\"n\": 1,\n").err().unwrap().to_string();
        assert!(part.contains("cut off") && part.contains("line 3"), "{part}");
        let broken = last("{\"n\": x}").err().unwrap().to_string();
        assert!(broken.contains("invalid JSON in line 1"), "{broken}");
        assert!(last("hello").err().unwrap().to_string().contains("no JSON object"));
    }
}
