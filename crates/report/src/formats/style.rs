//! How our own texts are written for the eye: width, colours, labelled lines.

use iosonde_base::text::wrap;

/// How to write for the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour (ANSI escapes).
    pub colour: bool,
    /// Whether characters outside of ASCII can be shown.
    pub unicode: bool,
    /// How wide lines may be. Where a table does not fit, each of its rows is a
    /// wrapped line.
    pub columns: usize,
    /// All figures, and findings in their long form.
    pub verbose: bool,
}

/// No layout is narrower than this.
const COLUMNS_MIN: usize = 40;

impl Style {
    /// The same style in lines that can be laid out.
    pub(super) fn usable(self) -> Style {
        Style { columns: self.columns.max(COLUMNS_MIN), ..self }
    }
}

impl Default for Style {
    fn default() -> Style {
        Style { colour: false, unicode: false, columns: 80, verbose: false }
    }
}

/// The role of a piece of text, which decides its colour.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    /// A name or a heading.
    Heading,
    /// A number to look at first.
    First,
    /// A label.
    Label,
    /// No finding.
    Good,
    /// A note or a warning.
    Note,
    /// Something that went wrong.
    Error,
}

/// `text`, coloured if the style says so. Pad before, not after.
pub(super) fn paint(text: impl AsRef<str>, mark: Mark, style: &Style) -> String {
    let text = text.as_ref();
    if !style.colour {
        return text.into();
    }
    let code = match mark {
        Mark::Heading => "1",
        Mark::First => "1;36",
        Mark::Label => "2",
        Mark::Good => "32",
        Mark::Note => "33",
        Mark::Error => "1;31",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// Names and numbers as one wrapped line: a row of a table that does not fit.
pub(super) fn add_narrow_row(name: &str, cells: &[String], style: &Style, text: &mut String) {
    text.push_str("  ");
    text.push_str(&wrap(&format!("{name}: {}", cells.join(", ")), 2, style.columns));
    text.push('\n');
}

/// A line that begins with a label in its own column.
pub(super) fn add_labelled(label: &str, words: &str, mark: Mark, style: &Style, text: &mut String) {
    text.push_str(&paint(format!("  {label:<10}"), mark, style));
    text.push_str(&wrap(words, 12, style.columns));
    text.push('\n');
}
