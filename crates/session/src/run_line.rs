//! The line that shows which run of many is under way; on a terminal only.

use iosonde_run::conductor::{Observer, RunEvent};
use iosonde_sys::status_line;
use std::time::Duration;

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
        status_line::draw(&format!("{}   {words}", self.lead));
    }

    /// Take it off the screen.
    pub fn clear(&self) {
        status_line::clear();
    }
}

impl Observer for RunLine {
    fn see(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::LayingOut { .. } => self.draw("laying out files"),
            RunEvent::Tick { elapsed, .. } => self.draw(&format!("{:.0} s", elapsed.secs_f64())),
            _ => {}
        }
    }

    fn every(&self) -> Option<Duration> {
        Some(Duration::from_millis(250))
    }
}
