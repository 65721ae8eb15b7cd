//! `--cmdhelp`, from our table: fio's layout, our own words; type and range in fio's form for
//! who reads them there, in words for a person.

use std::fmt::Write;

use crate::{OptionDef, ValueKind};

/// The list of `--cmdhelp` and `--cmdhelp=all`: a line each, an option that depends on
/// another one indented under it.
pub fn cmdhelp_all(rows: &[&OptionDef]) -> String {
    let mut page = String::new();
    let is_listed = |name: &str| rows.iter().any(|row| row.name == name);
    for row in rows.iter().filter(|row| !row.parent.is_some_and(is_listed)) {
        list(row, rows, 0, &mut page);
    }
    page
}

fn list(row: &OptionDef, rows: &[&OptionDef], level: usize, page: &mut String) {
    let name = format!("{:indent$}{}", "", row.name, indent = 2 * level);
    // Writing to a String cannot fail.
    let _ = writeln!(page, "{name:<24}: {}", row.summary());
    for child in rows.iter().filter(|child| child.parent == Some(row.name)) {
        list(child, rows, level + 1, page);
    }
}

/// How type and range of an option are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelpForm {
    /// As fio writes them: `min=1, max=-1`.
    Fio,
    /// In words: `1 or more`.
    Words,
}

/// The page of `--cmdhelp=NAME`: what it is, type, default, range and words.
pub fn cmdhelp_one(row: &OptionDef, form: HelpForm) -> String {
    let mut page = String::new();
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(page, "{label:>20}: {text}");
    };
    line(row.name, row.summary());
    for alias in row.aliases {
        line("alias", alias);
    }
    let (kind, none, range) = match form {
        HelpForm::Fio => (row.kind.fio(row.bare.is_some()), "no default", range(row)),
        HelpForm::Words => (row.kind.word(), "none", range_in_words(row)),
    };
    line("type", kind);
    line("default", if row.default.is_empty() { none } else { row.default });
    if let Some(range) = range {
        line("range", &range);
    }
    for (i, (word, help)) in row.choices.iter().enumerate() {
        let label = if i == 0 { "valid values" } else { "" };
        line(label, &format!("{word:<10} {help}"));
    }
    page
}

/// The `range:` line in fio's form, where -1 stands for "no limit".
fn range(row: &OptionDef) -> Option<String> {
    let (min, max) = (row.min.unwrap_or(0), row.max.unwrap_or(-1));
    match row.kind {
        ValueKind::Bool if row.bare.is_none() => Some("min=0, max=1".into()),
        ValueKind::Int | ValueKind::Size => Some(format!("min={min}, max={max}")),
        ValueKind::Float if row.max.is_some() => {
            Some(format!("min={min}.000000, max={max}.000000"))
        }
        ValueKind::Range => row.min.map(|min| format!("min={min}")),
        _ => None,
    }
}

/// The bounds of a number, where it has some: `1 or more`, `0 to 100`.
fn range_in_words(row: &OptionDef) -> Option<String> {
    if row.kind == ValueKind::Bool {
        return None;
    }
    match (row.min, row.max) {
        (min, Some(max)) => Some(format!("{} to {max}", min.unwrap_or(0))),
        (Some(min), None) if min != 0 => Some(format!("{min} or more")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static PARENT: OptionDef = OptionDef {
        name: "verify",
        doc: &[" Check what was written.", "", " More."],
        kind: ValueKind::Word,
        choices: &[("md5", "by md5")],
        default: "0",
        aliases: &["check"],
        ..OptionDef::BLANK
    };
    static CHILD: OptionDef = OptionDef {
        name: "verify_async",
        doc: &[" Threads that check."],
        kind: ValueKind::Int,
        parent: Some("verify"),
        ..OptionDef::BLANK
    };

    #[test]
    fn the_list_indents_what_depends_on_another() {
        assert_eq!(
            cmdhelp_all(&[&CHILD, &PARENT]),
            "verify                  : Check what was written\n\
             \x20 verify_async          : Threads that check\n"
        );
    }

    #[test]
    fn a_page_has_the_lines_of_fios() {
        assert_eq!(
            cmdhelp_one(&PARENT, HelpForm::Fio),
            "              verify: Check what was written\n\
             \x20              alias: check\n\
             \x20               type: string (opt=bla)\n\
             \x20            default: 0\n\
             \x20       valid values: md5        by md5\n"
        );
        let page = cmdhelp_one(&CHILD, HelpForm::Fio);
        assert!(page.contains("               range: min=0, max=-1\n"), "{page}");
    }

    #[test]
    fn a_page_for_a_person_has_neither_a_sample_nor_a_code_for_no_limit() {
        let page = cmdhelp_one(&PARENT, HelpForm::Words);
        assert!(page.contains("               type: word\n"), "{page}");
        assert!(!cmdhelp_one(&CHILD, HelpForm::Words).contains("range"));
        let least = OptionDef { min: Some(1), ..CHILD };
        assert!(cmdhelp_one(&least, HelpForm::Words).contains("range: 1 or more\n"));
        let both = OptionDef { max: Some(9), ..least };
        assert!(cmdhelp_one(&both, HelpForm::Words).contains("range: 1 to 9\n"));
    }
}
