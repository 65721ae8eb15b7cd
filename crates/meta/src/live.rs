//! A line of what has been done while a step runs: drawn over on a terminal, or a line each
//! second where that is asked for.

use iosonde_base::{DIRS, Nanos, PerDir, text};
use iosonde_run::conductor::{Observer, OtherHosts, RunEvent};
use iosonde_sys::{standard_error, status_line};
use std::time::Duration;

/// Whether and how it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveMode {
    /// On a terminal, unless a launcher started the run: what looks like one may be its own.
    Auto,
    /// Drawn over, on a terminal.
    Line,
    /// A line each second, wherever it goes.
    Plain,
    /// Never.
    No,
}

/// How often a drawn line changes, and how often a plain one is printed.
const DRAWN_EVERY: Duration = Duration::from_millis(500);
const PRINTED_EVERY: Duration = Duration::from_secs(1);

/// Shows the counts of a step.
#[derive(Debug)]
pub struct StepLine {
    mode: LiveMode,
    title: String,
    operations: u64,
    /// When the line was last shown, and what this rank had done then.
    last: (Nanos, u64),
}

impl StepLine {
    /// `is_launched`: one of several ranks; `speaks`: the one that prints.
    pub fn new(mode: LiveMode, is_launched: bool, speaks: bool) -> StepLine {
        let mode = match mode {
            _ if !speaks => LiveMode::No,
            LiveMode::Auto if is_launched => LiveMode::No,
            LiveMode::Auto | LiveMode::Line if status_line::is_shown() => LiveMode::Line,
            LiveMode::Plain => LiveMode::Plain,
            LiveMode::Auto | LiveMode::Line | LiveMode::No => LiveMode::No,
        };
        StepLine { mode, title: String::new(), operations: 0, last: (Nanos(0), 0) }
    }

    /// A step begins, in which all do so many operations; 0 if that is not known.
    pub fn begin(&mut self, title: &str, operations: u64) {
        (self.title, self.operations) = (title.to_owned(), operations);
        self.last = (Nanos(0), 0);
        if self.mode == LiveMode::Line {
            status_line::draw(&self.title);
        }
    }

    /// Take the line off the screen.
    pub fn clear(&self) {
        if self.mode == LiveMode::Line {
            status_line::clear();
        }
    }

    fn words(&mut self, own: u64, elapsed: Nanos, others: Option<OtherHosts>) -> String {
        let (then, before) = std::mem::replace(&mut self.last, (elapsed, own));
        let seconds = elapsed.since(then).secs_f64().max(1e-9);
        let sum = |counts: PerDir<u64>| DIRS.iter().map(|&dir| counts[dir]).sum::<u64>();
        let (theirs, their_rate) = others.map_or((0, 0.0), |others| {
            (sum(others.ios), DIRS.iter().map(|&dir| others.iops[dir]).sum::<f64>())
        });
        let rate = own.saturating_sub(before) as f64 / seconds + their_rate;
        let done = own + theirs;
        let of = match self.operations {
            0 => String::new(),
            all => format!(" of {all} ({})", text::percent_of(done, all)),
        };
        let heard = others
            .filter(|others| others.hosts > 0)
            .map(|others| format!("  {} of {} ranks", others.heard + 1, others.hosts + 1));
        let rate = text::count(rate);
        format!("{}  {done}{of}  {rate}/s{}", self.title, heard.unwrap_or_default())
    }
}

impl Observer for StepLine {
    fn see(&mut self, event: &RunEvent<'_>) {
        let RunEvent::Tick { snapshots, elapsed, others } = event else { return };
        let own = snapshots.iter().flat_map(|job| DIRS.map(|dir| job.ios[dir])).sum();
        let words = self.words(own, *elapsed, *others);
        match self.mode {
            LiveMode::Line => status_line::draw(&words),
            LiveMode::Plain => standard_error::print_line(format_args!("{words}")),
            LiveMode::Auto | LiveMode::No => {}
        }
    }

    fn every(&self) -> Option<Duration> {
        match self.mode {
            LiveMode::Line => Some(DRAWN_EVERY),
            LiveMode::Plain => Some(PRINTED_EVERY),
            LiveMode::Auto | LiveMode::No => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_counts_and_the_rate_of_all_ranks() {
        let mut line = StepLine::new(LiveMode::Plain, true, true);
        line.begin("create (3/7)", 1000);
        let others = OtherHosts {
            hosts: 2,
            heard: 1,
            ios: PerDir([0, 50, 0]),
            iops: PerDir([0.0, 25.0, 0.0]),
            ..OtherHosts::default()
        };
        let words = line.words(100, Nanos(2_000_000_000), Some(others));
        assert_eq!(words, "create (3/7)  150 of 1000 (15.0 %)  75/s  2 of 3 ranks");
        assert_eq!(
            line.words(150, Nanos(3_000_000_000), None),
            "create (3/7)  150 of 1000 (15.0 %)  50/s"
        );
    }
}
