//! The windows of a job's logs that are open, which its thread and that of its
//! logs share.

use super::windows::{CountWindows, HistogramWindow, HistogramWindows, LogWindow, ReadBy, look};
use iosonde_stats::Counters;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Which log could not be written, and why.
pub type LogWriteError = (PathBuf, io::Error);

/// What the job's thread and that of its logs share.
#[derive(Debug, Default)]
pub(super) struct OpenWindows {
    /// When counting began, in ticks.
    pub began: Option<u64>,
    /// Added to each time, in milliseconds.
    pub epoch_ms: u64,
    pub windows: Option<CountWindows>,
    pub histograms: Option<HistogramWindows>,
    /// Closed and not yet written.
    pub closed: Vec<LogWindow>,
    pub closed_histograms: Vec<HistogramWindow>,
}

impl OpenWindows {
    /// When the next window is over, in nanoseconds since counting began.
    pub fn next_ns(&self) -> Option<u64> {
        let windows = self.windows.as_ref().map(|windows| windows.schedule.next_ns());
        let histograms = self.histograms.as_ref().map(|windows| windows.schedule.next_ns());
        windows.into_iter().chain(histograms).min()
    }

    /// Close what is over at `now_ns`.
    pub fn close(&mut self, now_ns: u64, counters: &Counters, by: ReadBy) {
        if let Some(windows) = &mut self.windows {
            // A look too many would take the present window's largest latency.
            if windows.schedule.next_ns() <= now_ns {
                windows.close(now_ns, &look(counters, by), &mut self.closed);
            }
        }
        if let Some(windows) = &mut self.histograms {
            windows.close(now_ns, counters, false, &mut self.closed_histograms);
        }
    }

    /// Close all that is left.
    pub fn end(&mut self, now_ns: u64, counters: &Counters) {
        if let Some(windows) = &mut self.windows {
            windows.end(now_ns, &look(counters, ReadBy::Job), &mut self.closed);
        }
        if let Some(windows) = &mut self.histograms {
            windows.close(now_ns, counters, true, &mut self.closed_histograms);
        }
        // Nobody shall close any more.
        (self.windows, self.histograms) = (None, None);
    }
}

pub(super) fn lock(windows: &Mutex<OpenWindows>) -> MutexGuard<'_, OpenWindows> {
    windows.lock().unwrap_or_else(PoisonError::into_inner)
}
