//! How far it is, on standard error.

use crate::cell::Access;
use crate::sheet::ResultCell;
use iosonde_base::text;
use iosonde_sys::status_line;
use std::io::Write;
use std::time::{Duration, Instant};

/// Shows cells as they are measured.
#[derive(Debug)]
pub struct Progress {
    how: How,
    began: Instant,
    done: usize,
    all: usize,
    /// The expected time of a cell before any has been measured.
    guess: Duration,
    /// How long the measured ones took, and how many they were.
    taken: (Duration, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Nobody looks on.
    Silent,
    /// One line that is drawn over.
    Live,
    /// A line for each cell.
    Lines,
}

impl Progress {
    /// Of `all` cells that take `guess` each. Where standard error is no
    /// terminal nothing is shown, unless `requested`.
    pub fn new(requested: bool, all: usize, guess: Duration) -> Progress {
        let how = match (status_line::is_shown(), requested) {
            (true, _) => How::Live,
            (false, true) => How::Lines,
            (false, false) => How::Silent,
        };
        let taken = (Duration::ZERO, 0);
        Progress { how, began: Instant::now(), done: 0, all, guess, taken }
    }

    /// Something else than a cell is being done.
    pub fn doing(&self, what: &str) {
        self.show(what);
    }

    /// A cell begins.
    pub fn begins(&mut self, kind: Access, size: u32) {
        if self.how == How::Live {
            let now = format!("{} {}", text::bytes(u64::from(size)), kind.name());
            self.show(&format!("{}  {now}", self.head()));
        }
    }

    /// A cell has ended; how long it took, if it was run.
    pub fn ended(&mut self, kind: Access, size: u32, found: &ResultCell, took: Option<Duration>) {
        self.done += 1;
        if let Some(took) = took {
            self.taken = (self.taken.0 + took, self.taken.1 + 1);
        }
        if self.how == How::Lines {
            let rate = found.rate().map_or("-".to_owned(), text::rate);
            let now = format!("{} {}", text::bytes(u64::from(size)), kind.name());
            self.show(&format!("{}  {now}  {rate}", self.head()));
        }
    }

    /// All is done: the line makes room.
    pub fn clear(&self) {
        if self.how == How::Live {
            status_line::clear();
        }
    }

    fn head(&self) -> String {
        let left = u32::try_from(self.all.saturating_sub(self.done)).unwrap_or(u32::MAX);
        let each = match self.taken {
            (_, 0) => self.guess,
            (taken, count) => taken / count,
        };
        format!(
            "{} of {} cells, {} gone, {} left",
            self.done,
            self.all,
            clock(self.began.elapsed()),
            clock(each.saturating_mul(left))
        )
    }

    fn show(&self, words: &str) {
        match self.how {
            How::Silent => {}
            How::Live => status_line::draw(words),
            // A closed standard error is no error.
            How::Lines => drop(writeln!(std::io::stderr(), "{words}")),
        }
    }
}

/// `1:02:03`, `2:03`.
fn clock(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_that_of_the_cells_that_were_run() {
        let mut progress = Progress::new(false, 10, Duration::from_secs(2));
        assert!(progress.head().contains("gone, 0:20 left"), "{}", progress.head());
        let kind = Access::all()[0];
        let none = ResultCell::Not(crate::sheet::NoFigure::Stopped);
        progress.ended(kind, 4096, &none, Some(Duration::from_secs(1)));
        progress.ended(kind, 4096, &none, None);
        assert!(progress.head().contains("2 of 10 cells"), "{}", progress.head());
        assert!(progress.head().contains("gone, 0:08 left"), "{}", progress.head());
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }
}
