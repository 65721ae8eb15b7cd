//! The thread that writes a job's logs.

use super::lines::{entries, of_histograms, of_io, of_window};
use super::open_windows::{LogWriteError, OpenWindows, lock};
use super::sink::Sink;
use super::windows::ReadBy;
use super::{LogKind, LogsPlan};
use iosonde_base::PerDir;
use iosonde_engine::Record;
use iosonde_stats::Counters;
use iosonde_sys::clock::Clock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A message to the writer.
pub(super) enum LogMessage {
    /// Counting has begun.
    Started,
    /// What was recorded.
    Records(Vec<Record>),
    /// The job has ended: write everything.
    Finish,
}

/// Rows are written this often at most.
const REST: Duration = Duration::from_millis(50);

/// Writes a job's logs as they come.
pub(super) struct Writer {
    pub plan: LogsPlan,
    pub dirs: PerDir<bool>,
    pub clock: Clock,
    pub counters: Arc<Counters>,
    pub open_windows: Arc<Mutex<OpenWindows>>,
    pub inbox: Receiver<LogMessage>,
    pub emptied: Sender<Vec<Record>>,
    pub sinks: Vec<(LogKind, Sink)>,
    pub histogram: Option<Sink>,
}

impl Writer {
    /// Write until asked to finish, or until the job is gone. How it went.
    pub fn run(mut self) -> Result<(), LogWriteError> {
        if let Some(cpus) = &self.plan.cpus {
            // Where the logs are made is a wish; they are made anyway.
            let _ = cpus.pin();
        }
        loop {
            let message = match self.until_look() {
                Some(wait) => self.inbox.recv_timeout(wait),
                None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(LogMessage::Started) => {}
                Ok(LogMessage::Records(chunk)) => {
                    self.write_records(chunk);
                    self.write_rows();
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.look();
                    self.write_rows();
                }
                // Without a word the job's thread panicked, and nobody is left to receive the result.
                Ok(LogMessage::Finish) | Err(RecvTimeoutError::Disconnected) => {
                    self.write_rows();
                    return self.finish();
                }
            }
        }
    }

    /// How long to wait before a look: until the next window is over, and a
    /// little more, so that the job itself can close it. `None`: there are no
    /// windows, or none yet.
    fn until_look(&self) -> Option<Duration> {
        let open_windows = lock(&self.open_windows);
        let (began, next_ns) = (open_windows.began?, open_windows.next_ns()?);
        let grace = Duration::from_nanos(self.shortest_ns() / 4).min(REST);
        let now_ns = self.clock.ns_between(began, self.clock.now());
        let due = Duration::from_nanos(next_ns.saturating_sub(now_ns));
        Some((due + grace).max(REST))
    }

    fn shortest_ns(&self) -> u64 {
        let histogram = self.plan.histogram.as_ref().map_or(0, |plan| plan.every.0);
        let lengths = [self.plan.every.0, histogram].into_iter();
        lengths.filter(|&ns| ns > 0).min().unwrap_or(u64::MAX)
    }

    /// Close windows in the place of a job that waits for an I/O: it
    /// ends its slice at the first completion after a window's end, so nothing
    /// was counted since.
    fn look(&mut self) {
        let mut open_windows = lock(&self.open_windows);
        let Some(began) = open_windows.began else { return };
        let now_ns = self.clock.ns_between(began, self.clock.now());
        let grace_ns = (self.shortest_ns() / 4).min(REST.as_nanos() as u64);
        open_windows.close(now_ns.saturating_sub(grace_ns), &self.counters, ReadBy::Other);
    }

    fn write_rows(&mut self) {
        let (closed, histograms, epoch_ms) = {
            let mut open_windows = lock(&self.open_windows);
            let closed = std::mem::take(&mut open_windows.closed);
            (closed, std::mem::take(&mut open_windows.closed_histograms), open_windows.epoch_ms)
        };
        let (value, columns, dirs) = (self.plan.value, &self.plan.columns, &self.dirs);
        for (kind, sink) in &mut self.sinks {
            for window in &closed {
                of_window(sink.text(), *kind, window, (dirs, value), epoch_ms, columns);
            }
            sink.flush();
        }
        if let (Some(sink), Some(plan)) = (&mut self.histogram, &self.plan.histogram) {
            for window in &histograms {
                of_histograms(sink.text(), window, dirs, plan, epoch_ms);
            }
            sink.flush();
        }
    }

    fn write_records(&mut self, mut chunk: Vec<Record>) {
        let (began, epoch_ms) = {
            let open_windows = lock(&self.open_windows);
            (open_windows.began.unwrap_or(0), open_windows.epoch_ms)
        };
        let ns = |ticks| self.clock.ns_between(began, ticks);
        for (kind, sink) in &mut self.sinks {
            let text = sink.text();
            for entry in entries(&chunk, ns) {
                of_io(text, *kind, &entry, epoch_ms, &self.plan.columns);
            }
            sink.flush();
        }
        chunk.clear();
        // The job may have ended meanwhile.
        let _ = self.emptied.send(chunk);
    }

    fn finish(&mut self) -> Result<(), LogWriteError> {
        let sinks = self.sinks.drain(..).map(|(_, sink)| sink);
        let results: Vec<_> = sinks.chain(self.histogram.take()).map(Sink::finish).collect();
        results.into_iter().collect()
    }
}
