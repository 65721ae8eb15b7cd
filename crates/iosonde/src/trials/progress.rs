//! The line that shows which run of many is under way; on a terminal only.

use crate::terminal::line_columns;
use std::io::{self, IsTerminal, Write};

/// A line of standard error that is drawn over.
#[derive(Clone, Debug)]
pub struct RunLine {
    lead: String,
}

impl RunLine {
    /// A line that begins with these words.
    pub fn new(lead: impl Into<String>) -> RunLine {
        RunLine { lead: lead.into() }
    }

    /// Show it with more words after it.
    pub fn draw(&self, words: &str) {
        let mut out = io::stderr();
        if out.is_terminal() {
            let line =
                iosonde_base::text::fit(&format!("{}   {words}", self.lead), line_columns() - 1);
            // The line is drawn again anyway, so an error is ignored.
            let _ = write!(out, "\r\x1b[K{line}").and_then(|()| out.flush());
        }
    }

    /// Take it off the screen.
    pub fn clear(&self) {
        let mut out = io::stderr();
        if out.is_terminal() {
            let _ = write!(out, "\r\x1b[K").and_then(|()| out.flush());
        }
    }
}
