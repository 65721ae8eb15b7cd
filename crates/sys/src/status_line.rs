//! One line of standard error that is drawn over, for a person who looks on.

use iosonde_base::text::plain;
use std::io::{self, IsTerminal, Write};

/// Columns where the terminal does not tell.
const COLUMNS_DEFAULT: usize = 80;
/// A terminal that claims fewer does not know.
const COLUMNS_MIN: usize = 20;

/// Whether standard error is a terminal on which a line can be drawn over.
pub fn is_shown() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && !is_dumb
}

/// Show the line; nothing where none is shown. What does not fit is cut: a line that
/// wraps could not be drawn over.
pub fn draw(words: &str) {
    if is_shown() {
        let short: String = plain(words).chars().take(columns() - 1).collect();
        put(&format!("\r\x1b[K{short}"));
    }
}

/// Take it off the screen.
pub fn clear() {
    if is_shown() {
        put("\r\x1b[K");
    }
}

fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    size.map(|size| usize::from(size.ws_col))
        .filter(|&columns| columns > COLUMNS_MIN)
        .unwrap_or(COLUMNS_DEFAULT)
}

fn put(text: &str) {
    // Who closed standard error does not want to see it.
    let mut out = io::stderr();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
