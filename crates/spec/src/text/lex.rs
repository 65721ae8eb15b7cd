//! A job file's bytes as lines with content. Knows no option and opens no file.
//!
//! A line is blank, a comment, `[section]`, `include PATH`, `name=value` or `name`.
//! Everything from the first `;` or `#` is a comment, wherever it stands: fio has no quoting.

use std::fmt;

/// The longest line fio's manual allows, in bytes, without its end and its comment.
pub const LINE_BYTES_MAX: usize = 8192;

/// One line with content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine<'a> {
    /// Counted from 1.
    pub number: u32,
    /// The first character that counts; from 1, in characters.
    pub column: u32,
    /// The line without its blanks and its comment: what fio's messages quote.
    pub text: &'a str,
    /// Its content.
    pub body: Body<'a>,
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// `[name]`: what follows belongs to `name`.
    Section {
        /// Between the brackets, blanks kept, `]` allowed inside.
        name: &'a str,
        /// Whether the line ended in `]`. Where it does not, fio drops the last character all
        /// the same, and so does `name`.
        closed: bool,
    },
    /// `include PATH`.
    Include {
        /// As written, blanks around it removed.
        path: &'a str,
    },
    /// `name=value`, or `name` alone.
    Setting {
        /// Blanks around it removed.
        name: &'a str,
        /// What follows the first `=`, its leading blanks kept; `None` without an `=`.
        value: Option<&'a str>,
        /// Where the value begins; where the name begins if there is no value.
        value_column: u32,
    },
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Counted from 1.
    pub number: u32,
    /// In characters, from 1; in bytes for a line that is not text.
    pub column: u32,
    /// What is wrong with it.
    pub why: BadLineReason,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLineReason {
    /// It is longer than [`LINE_BYTES_MAX`].
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It holds a byte that is no UTF-8.
    NotUtf8 {
        /// The first such byte.
        byte: u8,
    },
    /// It holds a NUL, where fio would stop reading the line.
    Nul,
}

impl fmt::Display for BadLineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadLineReason::TooLong { bytes } => {
                write!(f, "line of {bytes} bytes: the longest allowed is {LINE_BYTES_MAX}")
            }
            BadLineReason::NotUtf8 { byte } => write!(f, "byte {byte:#04x} is not UTF-8 text"),
            BadLineReason::Nul => write!(f, "a NUL byte in the line: a job file is text"),
        }
    }
}

/// Every line of `text` with content, in order, unreadable ones included.
///
/// Lines end in `\n` or `\r\n`. A byte order mark at the very start is skipped.
pub fn lines(text: &[u8]) -> impl Iterator<Item = Result<JobLine<'_>, BadLine>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    text.split(|&byte| byte == b'\n').enumerate().filter_map(|(index, raw)| {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        line(number, raw).transpose()
    })
}

fn line(number: u32, raw: &[u8]) -> Result<Option<JobLine<'_>>, BadLine> {
    let comment = raw.iter().position(|&byte| byte == b';' || byte == b'#');
    let line = raw[..comment.unwrap_or(raw.len())].trim_ascii_end();
    let content = line.trim_ascii_start();
    if content.is_empty() {
        return Ok(None);
    }
    let fail = |column: usize, why| Err(BadLine { number, column: narrow(column), why });
    if line.len() > LINE_BYTES_MAX {
        return fail(LINE_BYTES_MAX + 1, BadLineReason::TooLong { bytes: line.len() });
    }
    let indent = line.len() - content.len();
    let content = match std::str::from_utf8(content) {
        Ok(content) => content,
        Err(error) => {
            let at = error.valid_up_to();
            return fail(indent + at + 1, BadLineReason::NotUtf8 { byte: content[at] });
        }
    };
    if let Some(at) = content.find('\0') {
        return fail(indent + content[..at].chars().count() + 1, BadLineReason::Nul);
    }
    let column = narrow(indent + 1);
    Ok(Some(JobLine { number, column, text: content, body: body(content, column) }))
}

fn body(content: &str, column: u32) -> Body<'_> {
    if let Some(header) = content.strip_prefix('[') {
        let closed = header.ends_with(']');
        let mut name = header.chars();
        name.next_back();
        return Body::Section { name: name.as_str(), closed };
    }
    if let Some(path) = content.strip_prefix("include")
        && (path.is_empty() || path.starts_with(['=', ' ', '\t']))
    {
        return Body::Include { path: path.strip_prefix('=').unwrap_or(path).trim() };
    }
    match content.split_once('=') {
        None => Body::Setting { name: content, value: None, value_column: column },
        Some((name, value)) => Body::Setting {
            name: name.trim_end(),
            value: Some(value),
            value_column: column + narrow(name.chars().count() + 1),
        },
    }
}

fn narrow(column: usize) -> u32 {
    u32::try_from(column).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(text: &str) -> Vec<Body<'_>> {
        lines(text.as_bytes()).map(|line| line.unwrap().body).collect()
    }

    fn only(text: &[u8]) -> Result<JobLine<'_>, BadLine> {
        let mut all = lines(text);
        let first = all.next().expect("one line");
        assert_eq!(all.next(), None);
        first
    }

    fn set<'a>(name: &'a str, value: &'a str, value_column: u32) -> Body<'a> {
        Body::Setting { name, value: Some(value), value_column }
    }

    #[test]
    fn blank_lines_and_comments_say_nothing() {
        assert_eq!(bodies("\n\n  \t\r\n; a\n # b\n;[c]\n"), []);
    }

    #[test]
    fn a_comment_may_begin_anywhere() {
        assert_eq!(bodies("bs=4k ;x\nrw=read#y"), [set("bs", "4k", 4), set("rw", "read", 4)]);
    }

    #[test]
    fn carriage_returns_and_indents_are_not_part_of_a_line() {
        assert_eq!(
            bodies("[a]\r\n\tbs=4k\r\n"),
            [Body::Section { name: "a", closed: true }, set("bs", "4k", 5),]
        );
    }

    #[test]
    fn blanks_before_the_equals_sign_are_dropped_and_those_after_it_kept() {
        assert_eq!(bodies("size \t= 4k  "), [set("size", " 4k", 8)]);
    }

    #[test]
    fn only_the_first_equals_sign_parts_name_and_value() {
        assert_eq!(bodies("description=a=b"), [set("description", "a=b", 13)]);
        assert_eq!(bodies("=4k"), [set("", "4k", 2)]);
    }

    #[test]
    fn a_section_name_may_hold_any_character() {
        for name in ["a]b", " x ", "x=(1),/", "", "[", "\u{e9}\u{1f4be}"] {
            let text = format!("[{name}]");
            assert_eq!(bodies(&text), [Body::Section { name, closed: true }], "{text}");
        }
    }

    #[test]
    fn an_unclosed_section_loses_its_last_character_as_in_fio() {
        assert_eq!(bodies("[global"), [Body::Section { name: "globa", closed: false }]);
        assert_eq!(bodies("[a] junk"), [Body::Section { name: "a] jun", closed: false }]);
        assert_eq!(bodies("["), [Body::Section { name: "", closed: false }]);
        assert_eq!(bodies("[a\u{e9}"), [Body::Section { name: "a", closed: false }]);
    }

    #[test]
    fn include_is_a_word_of_its_own() {
        assert_eq!(bodies("include  a b ; c"), [Body::Include { path: "a b" }]);
        assert_eq!(bodies("include=x"), [Body::Include { path: "x" }]);
        assert_eq!(bodies("include"), [Body::Include { path: "" }]);
        assert_eq!(bodies("included=1"), [set("included", "1", 10)]);
    }

    #[test]
    fn the_longest_line_is_read_and_one_byte_more_is_not() {
        let longest = format!("x={}", "y".repeat(LINE_BYTES_MAX - 2));
        assert!(only(longest.as_bytes()).is_ok());
        let long = only(format!("{longest}y").as_bytes()).unwrap_err();
        assert_eq!(long.why, BadLineReason::TooLong { bytes: LINE_BYTES_MAX + 1 });
        let comment = format!("; {}", "y".repeat(LINE_BYTES_MAX * 2));
        assert_eq!(bodies(&comment), []);
    }

    #[test]
    fn what_is_not_text_is_reported_with_its_place() {
        let found = only(b"  bs=\xff").unwrap_err();
        assert_eq!(
            found,
            BadLine { number: 1, column: 6, why: BadLineReason::NotUtf8 { byte: 0xff } }
        );
        let found = only(b"\n bs=\0").unwrap_err();
        assert_eq!(found, BadLine { number: 2, column: 5, why: BadLineReason::Nul });
        assert_eq!(lines(b"; \xff\0\n").count(), 0);
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_line() {
        assert_eq!(bodies("\u{feff}[a]"), [Body::Section { name: "a", closed: true }]);
    }

    #[test]
    fn lines_are_counted_with_the_silent_ones() {
        let numbers: Vec<u32> = lines(b"\n;x\na\n\nb").map(|line| line.unwrap().number).collect();
        assert_eq!(numbers, [3, 5]);
    }
}
