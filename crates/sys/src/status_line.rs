//! One line of standard error that is drawn over, for a person who looks on.

use crate::terminal::line_columns;
use iosonde_base::text::plain;
use std::io::{self, IsTerminal, Write};

/// Whether standard error is a terminal on which a line can be drawn over.
pub fn is_shown() -> bool {
    io::stderr().is_terminal() && crate::platform::draws()
}

/// Show the line; nothing where none is shown. What does not fit is cut: a line that
/// wraps could not be drawn over.
pub fn draw(words: &str) {
    if is_shown() {
        let short: String = plain(words).chars().take(line_columns(io::stderr()) - 1).collect();
        put(&format!("\r\x1b[K{short}"));
    }
}

/// Take it off the screen.
pub fn clear() {
    if is_shown() {
        put("\r\x1b[K");
    }
}

fn put(text: &str) {
    // Who closed standard error does not want to see it.
    let mut out = io::stderr();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
