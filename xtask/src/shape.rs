//! Long functions and type names with several meanings, found in the text of
//! the files, which rustfmt has given one form.

use std::collections::{BTreeMap, BTreeSet};

/// A longer function does not fit on a screen.
const FUNCTION_LINES_MOST: usize = 70;

/// Functions that may be longer, by file and name. The list may only shrink.
const LONG: &[(&str, &str)] = &[
    // A hot loop: a call on its way would cost each I/O.
    ("crates/engine/src/queue/exchange.rs", "stretch"),
];

/// A name defined in so many files has several meanings.
const FILES_LEAST: usize = 3;

/// Names that mean the same in each crate.
const IDIOMS: &[&str] = &["Error", "Options"];

/// Functions of a file that are too long.
pub fn long_functions(name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let Some(function) = function_name(line) else { continue };
        let indent = line.len() - line.trim_start().len();
        let end = lines[at..].iter().position(|line| {
            line.trim_start() == "}" && line.len() - line.trim_start().len() == indent
        });
        let Some(length) = end.map(|end| end + 1) else { continue };
        if length > FUNCTION_LINES_MOST && !LONG.contains(&(name, function)) {
            findings.push(format!(
                "{name}:{}: {function} has {length} lines; the most is {FUNCTION_LINES_MOST}",
                at + 1
            ));
        }
    }
    findings
}

/// The name of a function with a body, if the line begins one.
fn function_name(line: &str) -> Option<&str> {
    let (before, rest) = line.trim_start().split_once("fn ")?;
    let qualifiers = |word: &str| {
        word.starts_with("pub") || ["const", "unsafe", "extern", "\"C\"", "async"].contains(&word)
    };
    if !before.split_whitespace().all(qualifiers) || line.trim_end().ends_with([';', '}']) {
        return None;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (end > 0).then_some(&rest[..end])
}

/// Names of types that are defined in too many files.
pub fn shared_names<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, text) in files {
        for name in text.lines().filter_map(type_name) {
            // A name of one shape, a file of each system: that is one meaning.
            let place = file.split_once("/platform/").map_or(file, |(before, _)| before);
            places.entry(name).or_default().insert(place);
        }
    }
    places
        .into_iter()
        .filter(|(name, files)| files.len() >= FILES_LEAST && !IDIOMS.contains(name))
        .map(|(name, files)| {
            let files: Vec<&str> = files.into_iter().collect();
            format!("the type name {name} is defined in {}", files.join(", "))
        })
        .collect()
}

fn type_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let rest = ["struct ", "enum ", "trait ", "union "]
        .into_iter()
        .find_map(|kind| line.strip_prefix(kind))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_as_long_as_its_braces_are_apart() {
        let body = |lines| {
            format!("    pub fn long(&self) -> u32 {{\n{}    }}\n", "        1;\n".repeat(lines))
        };
        assert!(long_functions("a.rs", &body(68)).is_empty());
        let found = long_functions("a.rs", &body(69));
        assert_eq!(found, ["a.rs:1: long has 71 lines; the most is 70"]);
    }

    #[test]
    fn three_files_are_too_many_for_one_name() {
        let text = "pub(crate) struct Same;\nenum Error {}\n";
        let files = [("a.rs", text), ("b.rs", text)];
        assert!(shared_names(files.into_iter()).is_empty());
        let files = [("a.rs", text), ("b.rs", text), ("c.rs", text)];
        assert_eq!(
            shared_names(files.into_iter()),
            ["the type name Same is defined in a.rs, b.rs, c.rs"]
        );
    }

    #[test]
    fn files_of_several_systems_share_their_names() {
        let text = "pub(crate) struct Pages;\n";
        let files = ["linux/pages.rs", "bsd.rs", "windows.rs"];
        let files = files.map(|file| format!("crates/direct/src/platform/{file}"));
        assert!(shared_names(files.iter().map(|file| (file.as_str(), text))).is_empty());
    }

    #[test]
    fn a_long_function_is_allowed_in_its_own_file_only() {
        let text = format!("fn stretch() {{\n{}}}\n", "    1;\n".repeat(80));
        assert!(long_functions(LONG[0].0, &text).is_empty());
        assert_eq!(long_functions("a.rs", &text).len(), 1);
    }
}
