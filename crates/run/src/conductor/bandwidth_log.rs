//! `--bandwidth-log`: what all jobs move together, twice a second.

use crate::control::Shared;
use crate::logs::LogWriteError;
use crate::logs::lines::of_all;
use crate::logs::sink::Sink;
use iosonde_base::DIRS;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Length of a window.
const EVERY: Duration = Duration::from_millis(500);

/// The logs of a run, being written: `PREFIX-read_bw.log` and the like.
#[derive(Debug)]
pub struct BandwidthLog {
    stop: Sender<()>,
    thread: JoinHandle<Result<(), LogWriteError>>,
}

/// The files of a prefix, in the order of directions.
pub fn paths(prefix: &str) -> [PathBuf; 3] {
    DIRS.map(|dir| format!("{prefix}-{}_bw.log", dir.name()).into())
}

impl BandwidthLog {
    /// Create the files, and begin.
    ///
    /// # Errors
    /// Which file cannot be created, and why.
    pub fn start(prefix: &str, jobs: Vec<Arc<Shared>>) -> Result<BandwidthLog, LogWriteError> {
        let mut sinks = Vec::new();
        for path in paths(prefix) {
            sinks.push(Sink::open(&path, false, false).map_err(|error| (path, error))?);
        }
        let (stop, stopped) = channel();
        let body = move || {
            let mut writer = BandwidthLogWriter {
                jobs,
                sinks,
                began: Instant::now(),
                closed: Duration::ZERO,
                last: [0; 3],
            };
            loop {
                let wait = (writer.closed + EVERY).saturating_sub(writer.began.elapsed());
                match stopped.recv_timeout(wait) {
                    Err(RecvTimeoutError::Timeout) => writer.close(writer.closed + EVERY),
                    _ => return writer.end(),
                }
            }
        };
        let thread = Builder::new().name("bandwidth-log".to_owned()).spawn(body);
        let thread = thread.map_err(|error| (format!("{prefix}-read_bw.log").into(), error))?;
        Ok(BandwidthLog { stop, thread })
    }

    /// Write what is left.
    ///
    /// # Errors
    /// Which file could not be written, and why.
    pub fn finish(self) -> Result<(), LogWriteError> {
        // It may have panicked, and then nobody listens.
        let _ = self.stop.send(());
        let panicked = |_| Err((Default::default(), std::io::Error::other("its thread panicked")));
        self.thread.join().unwrap_or_else(panicked)
    }
}

struct BandwidthLogWriter {
    jobs: Vec<Arc<Shared>>,
    sinks: Vec<Sink>,
    began: Instant,
    /// End of the last window, since it began.
    closed: Duration,
    /// Bytes of each direction then.
    last: [u64; 3],
}

impl BandwidthLogWriter {
    fn close(&mut self, end: Duration) {
        let length = (end - self.closed).as_secs_f64().max(1e-9);
        for (at, dir) in DIRS.into_iter().enumerate() {
            let bytes = self.jobs.iter().map(|job| job.counters.lane(dir).bytes.get()).sum();
            // Fewer than before: a ramp has ended, and its counts are forgotten.
            let moved = if bytes < self.last[at] { bytes } else { bytes - self.last[at] };
            self.last[at] = bytes;
            let kib_per_s = (moved as f64 / 1024.0 / length).round() as u64;
            let sink = &mut self.sinks[at];
            of_all(sink.text(), end.as_millis() as u64, kib_per_s, at as u64);
            sink.flush();
        }
        self.closed = end;
    }

    fn end(mut self) -> Result<(), LogWriteError> {
        let end = self.began.elapsed();
        while self.closed + EVERY <= end {
            self.close(self.closed + EVERY);
        }
        if end > self.closed {
            self.close(end);
        }
        let results: Vec<_> = self.sinks.into_iter().map(Sink::finish).collect();
        results.into_iter().collect()
    }
}
