//! The reference page of options, in Markdown.

use std::fmt::Write;

use crate::{Built, Category, FioSupport, OptionDef, TimeUnit, ValueKind};

/// A page of all `rows`: a heading per category, an entry per option.
pub fn markdown(rows: &[&OptionDef]) -> String {
    let mut page = String::new();
    for category in Category::ALL {
        let mut members = rows.iter().filter(|row| row.category == category).peekable();
        if members.peek().is_none() {
            continue;
        }
        page += &section(category.title(), &members.copied().collect::<Vec<_>>());
    }
    page
}

/// A heading and the entries of `rows` under it.
pub fn section(title: &str, rows: &[&OptionDef]) -> String {
    let mut page = format!("## {title}\n\n");
    for row in rows {
        entry(row, &mut page);
    }
    page
}

/// A heading and a table of options of which only the names are known.
pub fn names(title: &str, rows: &[&OptionDef]) -> String {
    let mut page = format!(
        "## {title}\n\nNot supported yet: a job that sets one is refused.\n\n| option | meaning |\n|---|---|\n"
    );
    for row in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "| {} | {} |", quoted(row), row.summary());
    }
    page.push('\n');
    page
}

/// An option's name and its aliases.
fn quoted(row: &OptionDef) -> String {
    let names: Vec<String> =
        std::iter::once(&row.name).chain(row.aliases).map(|name| code(name)).collect();
    names.join(", ")
}

/// One option: name, facts in a line, text, words.
fn entry(row: &OptionDef, page: &mut String) {
    // Writing to a String cannot fail.
    let _ = writeln!(page, "### {}\n", quoted(row));
    for line in row.doc {
        let _ = writeln!(page, "{}", line.strip_prefix(' ').unwrap_or(line));
    }
    page.push('\n');
    for (label, text) in facts(row) {
        let _ = writeln!(page, "- {label}: {text}");
    }
    if !row.choices.is_empty() {
        page.push_str("\n| word | meaning |\n|---|---|\n");
        for (word, help) in row.choices {
            let _ = writeln!(page, "| `{word}` | {help} |");
        }
    }
    page.push('\n');
}

fn facts(row: &OptionDef) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Type", kind(row))];
    match (row.min, row.max) {
        (Some(min), Some(max)) => facts.push(("Range", format!("{min} to {max}"))),
        (Some(min), None) => facts.push(("Range", format!("{min} or more"))),
        (None, Some(max)) => facts.push(("Range", format!("up to {max}"))),
        (None, None) => {}
    }
    let none = String::from("none");
    facts.push(("Default", if row.default.is_empty() { none } else { code(row.default) }));
    if let Some(bare) = row.bare {
        facts.push(("Without a value", code(bare)));
    }
    if !row.good.is_empty() {
        let complete = |text: &&str| {
            let own = format!("{}={text}", row.name);
            let all: Vec<&str> = row.with.iter().copied().chain([own.as_str()]).collect();
            code(&all.join(" "))
        };
        let examples: Vec<String> = row.good.iter().map(complete).collect();
        facts.push(("Examples", examples.join(", ")));
    }
    if let Some(instead) = row.deprecated {
        facts.push(("Retired", instead.into()));
    }
    let fio = match row.fio {
        FioSupport::Same => "the same".into(),
        FioSupport::Differs(how) => format!("differs: {how}"),
        FioSupport::OursAlone => "ours alone".into(),
    };
    facts.push(("fio", fio));
    let built = match row.built {
        Built::Yes if row.unbuilt_words.is_empty() => "yes".into(),
        Built::Yes => format!("yes; not yet: {}", row.unbuilt_words.join(", ")),
        Built::Ignored(why) => format!("accepted, no effect: {why}"),
        Built::No => "not yet: a job that needs it is stopped".into(),
    };
    facts.push(("Built", built));
    facts
}

fn kind(row: &OptionDef) -> String {
    match (row.kind, row.unit) {
        (ValueKind::Time, TimeUnit::Seconds) => "time, in seconds unless a unit is given".into(),
        (ValueKind::Time, TimeUnit::Micros) => {
            "time, in microseconds unless a unit is given".into()
        }
        (kind, _) => kind.word().into(),
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    static ROW: OptionDef = OptionDef {
        name: "rate",
        aliases: &["cap"],
        doc: &[" Cap bandwidth."],
        kind: ValueKind::Size,
        default: "0",
        min: Some(0),
        category: Category::Rate,
        built: Built::No,
        with: &["rw=write"],
        good: &["1m"],
        ..OptionDef::BLANK
    };

    #[test]
    fn an_entry_says_all_that_the_row_says() {
        let page = markdown(&[&ROW]);
        for part in [
            "## Rate and latency goals",
            "### `rate`, `cap`",
            "Cap bandwidth.",
            "- Type: size",
            "- Range: 0 or more",
            "- Default: `0`",
            "- Examples: `rw=write rate=1m`",
            "- fio: the same",
            "- Built: not yet",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
