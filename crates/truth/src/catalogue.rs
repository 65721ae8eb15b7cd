//! What the program can print: the ids of its rules and the texts in its sources. A check on
//! a word that is not among them could never fail, and is refused when the table is read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Crates that are no part of the program.
const NOT_OF_THE_PROGRAM: [&str; 3] = ["faults", "testing", "truth"];
/// From the mildest to the worst.
const SEVERITIES: [&str; 3] = ["note", "warning", "wrong"];

/// Rules and texts of the program.
pub(crate) struct Catalogue {
    /// Each rule and the highest severity of its findings.
    rules: BTreeMap<String, String>,
    /// Literals of the sources, whitespace as one space.
    texts: Vec<String>,
}

impl Catalogue {
    /// The one of this checkout.
    ///
    /// # Errors
    /// If its sources cannot be read.
    pub(crate) fn get() -> Result<&'static Catalogue, String> {
        static READ: OnceLock<Result<Catalogue, String>> = OnceLock::new();
        READ.get_or_init(Catalogue::read).as_ref().map_err(String::clone)
    }

    fn read() -> Result<Catalogue, String> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut all = Catalogue { rules: BTreeMap::new(), texts: Vec::new() };
        let failed = |error: std::io::Error| format!("{}: {error}", crates.display());
        for entry in fs::read_dir(&crates).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if NOT_OF_THE_PROGRAM.iter().all(|name| entry.file_name() != *name) {
                for file in sources(&entry.path().join("src")) {
                    let text = fs::read_to_string(&file).map_err(failed)?;
                    all.add(&text);
                }
            }
        }
        Ok(all)
    }

    /// What a source can print; its tests are left out.
    fn add(&mut self, source: &str) {
        let source = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        let found = literals(source);
        for pair in found.windows(2) {
            // `id: "x",` and `severity: Severity::Note,` before the next literal.
            let (name, between) = (&pair[0], source.get(pair[0].end..pair[1].start));
            let Some((_, rest)) = between.unwrap_or_default().split_once("severity: Severity::")
            else {
                continue;
            };
            let severity = rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            if source[..name.start].ends_with("id: ") {
                self.rules.insert(name.text.clone(), severity.to_lowercase());
            }
        }
        self.texts.extend(found.into_iter().map(|literal| one_line(&literal.text)));
    }

    /// All rules.
    pub(crate) fn rules(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rules.iter().map(|(id, severity)| (&**id, &**severity))
    }

    /// `Err` unless there is such a rule, whose findings may be as severe.
    pub(crate) fn has_rule(&self, id: &str, severity: Option<&str>) -> Result<(), String> {
        let highest = self.rules.get(id).ok_or(format!("no rule is named {id:?}"))?;
        let at = |word: &str| SEVERITIES.iter().position(|known| *known == word);
        match severity {
            None => Ok(()),
            Some(word) if at(word).is_some() && at(word) <= at(highest) => Ok(()),
            Some(word) => Err(format!("{id} is never {word:?}: it is {highest} at most")),
        }
    }

    /// `Err` unless one of its texts has these words.
    pub(crate) fn has_text(&self, words: &str) -> Result<(), String> {
        if self.texts.iter().any(|text| text.contains(words)) {
            Ok(())
        } else {
            Err(format!("the program never prints {words:?}: no text of its sources has that"))
        }
    }
}

/// Runs of whitespace as one space, so that it does not matter where a line is wrapped.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_whitespace() && line.ends_with(' ') => {}
            c if c.is_whitespace() => line.push(' '),
            c => line.push(c),
        }
    }
    line
}

/// Rust files below a directory, but for those that are only compiled for tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            all.extend(sources(&path));
        } else if name.ends_with(".rs") && !["fixture.rs", "tests.rs"].contains(&&*name) {
            all.push(path);
        }
    }
    all
}

/// A literal: its text, and the bytes of the source that it is in.
struct Literal {
    text: String,
    start: usize,
    end: usize,
}

/// The string literals of a source in their order.
fn literals(source: &str) -> Vec<Literal> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let raw = raw_quote(rest, &source[..at]);
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some((open, close)) = raw {
            let inside = &rest[open..];
            let length = inside.find(&close).unwrap_or(inside.len());
            let end = at + open + (length + close.len()).min(inside.len());
            all.push(Literal { text: inside[..length].to_owned(), start: at, end });
            at = end;
        } else if let Some(text) = rest.strip_prefix('"') {
            let (text, length) = plain(text);
            all.push(Literal { text, start: at, end: at + 1 + length });
            at += 1 + length;
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            at += if rest.starts_with("'\\") { 4 } else { 3 };
        } else {
            at += c.len_utf8();
        }
    }
    all
}

/// Where `r"` or `r#"` opens, and what closes it.
fn raw_quote(rest: &str, before: &str) -> Option<(usize, String)> {
    let hashes = rest.strip_prefix('r')?.chars().take_while(|c| *c == '#').count();
    let follows = before.chars().last().is_some_and(|c| c.is_alphanumeric() || c == '_');
    let opens = rest[1 + hashes..].starts_with('"') && !follows;
    opens.then(|| (2 + hashes, format!("\"{}", "#".repeat(hashes))))
}

/// The text after an opening quote, and how long it is in the source, with the closing one.
fn plain(source: &str) -> (String, usize) {
    let mut text = String::new();
    let mut chars = source.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, at + 1),
            '\\' => match chars.next() {
                Some((_, 'n' | 't')) => text.push(' '),
                Some((_, '\n')) => while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                Some((_, c)) => text.push(c),
                None => {}
            },
            c => text.push(c),
        }
    }
    (text, source.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_joined_where_the_source_continues_them() {
        let source = "f('\"', \"a \\\n   b\\\"\"); // \"no\"\nlet x = r#\"raw \"c\"\"#;\n\
                      #[cfg(test)]\nmod tests { \"d\" }";
        let mut catalogue = Catalogue { rules: BTreeMap::new(), texts: Vec::new() };
        catalogue.add(source);
        assert_eq!(catalogue.texts, ["a b\"", "raw \"c\""]);
    }

    #[test]
    fn rules_of_verdict_audit_and_probe_are_known_and_no_others() {
        let all = Catalogue::get().unwrap();
        for known in ["not-durable", "no-disk-counts", "not-counted"] {
            assert_eq!(all.has_rule(known, None), Ok(()));
        }
        assert_eq!(all.has_rule("not-durable", Some("wrong")), Ok(()));
        assert!(all.has_rule("short-run", Some("wrong")).unwrap_err().contains("note at most"));
        assert!(all.has_rule("not-durabel", None).unwrap_err().contains("not-durabel"));
    }

    #[test]
    fn sentences_that_the_program_never_prints_are_refused() {
        let all = Catalogue::get().unwrap();
        assert_eq!(all.has_text("dirty in the page cache"), Ok(()));
        for dead in ["use direct=1", "counts no I/O"] {
            assert!(all.has_text(dead).unwrap_err().contains(dead));
        }
    }
}
