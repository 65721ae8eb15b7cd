//! Colours of our own report, where there are colours.

use super::Style;

/// The role of a piece of text, which decides its colour.
#[derive(Clone, Copy)]
pub(crate) enum Mark {
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
pub(crate) fn paint(text: impl AsRef<str>, mark: Mark, style: &Style) -> String {
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
