//! What the terminal can show: its width, and whether escapes may be used.

use crate::platform::{self, Stream};
use crate::standard_output;
use std::io::IsTerminal;

/// Columns where standard output is no terminal.
pub const COLUMNS_DEFAULT: usize = 80;
/// Narrower than this, tables and words do not fit whatever is done.
const COLUMNS_MIN: usize = 40;
/// Sentences that are longer are hard to read.
const COLUMNS_MAX: usize = 120;
/// A terminal that claims no more does not know.
const COLUMNS_UNKNOWN: u16 = 20;

/// Columns for text: of the terminal, or as `COLUMNS` says; 80 where standard
/// output is no terminal.
pub fn columns() -> usize {
    let columns =
        if std::io::stdout().is_terminal() { from_variable().or_else(from_terminal) } else { None };
    columns.unwrap_or(COLUMNS_DEFAULT).clamp(COLUMNS_MIN, COLUMNS_MAX)
}

/// Columns for a line that is drawn over on this stream; 80 where unknown.
pub fn line_columns(stream: impl Stream) -> usize {
    let columns = window_size(stream)
        .map(|(columns, _)| columns)
        .filter(|&columns| columns > COLUMNS_UNKNOWN);
    columns.map_or(COLUMNS_DEFAULT, usize::from)
}

fn from_variable() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|&columns| columns > 0)
}

fn from_terminal() -> Option<usize> {
    let (columns, _) = window_size(std::io::stdout())?;
    Some(usize::from(columns)).filter(|&columns| columns > 0)
}

/// Columns and rows of the terminal that is standard error, if it takes escapes.
pub fn screen_size() -> Option<(u16, u16)> {
    let is_terminal = std::io::stderr().is_terminal();
    let size = window_size(std::io::stderr());
    size.filter(|(columns, _)| is_terminal && platform::takes_escapes() && *columns > 0)
}

/// Columns and rows of the terminal that a stream is; `None` if it is none.
pub fn window_size(stream: impl Stream) -> Option<(u16, u16)> {
    platform::window_size(stream)
}

/// Whether characters outside of ASCII can be shown: the character set of the
/// locale is UTF-8.
pub fn shows_unicode() -> bool {
    platform::shows_unicode()
}

/// Whether standard output is a terminal that shows colour, and its user wants
/// it (<https://no-color.org>).
pub fn shows_colour() -> bool {
    let is_shown = std::io::stdout().is_terminal() && !standard_output::is_kept();
    is_shown && platform::draws() && std::env::var_os("NO_COLOR").is_none()
}
