//! The part of logging that a job's thread does.

use super::open_windows::{LogWriteError, OpenWindows, lock};
use super::sink::Sink;
use super::windows::{CountWindows, HistogramWindows, ReadBy};
use super::writer::{LogMessage, Writer};
use super::{LogKind, LogsPlan};
use iosonde_base::{Nanos, PerDir};
use iosonde_engine::{Record, Tape, TapeConsumer};
use iosonde_stats::Counters;
use iosonde_sys::clock::Clock;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Records to a chunk: 256 KiB.
const CHUNK: usize = 8192;

/// A chunk that does not fill is handed over after this long, so that a log
/// can be watched as it grows.
const HAND_OVER_NS: u64 = 1_000_000_000;

/// A job's logs, open.
pub struct JobLogs {
    plan: LogsPlan,
    clock: Clock,
    counters: Arc<Counters>,
    open_windows: Arc<Mutex<OpenWindows>>,
    outbox: Sender<LogMessage>,
    /// Chunks that were written, to be filled again.
    empty: Option<Receiver<Vec<Record>>>,
    waits: Arc<Mutex<Waits>>,
    thread: JoinHandle<Result<(), LogWriteError>>,
    began: u64,
    /// When to look next, in ticks.
    next: u64,
}

/// How often a job waited because its log was not written fast enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How many times.
    pub times: u64,
    /// How long together.
    pub took: Nanos,
}

impl JobLogs {
    /// Create the files, and start the thread that writes them. To be called
    /// before the job takes its place: the thread shall not share it.
    pub fn open(
        plan: &LogsPlan,
        dirs: PerDir<bool>,
        clock: Clock,
        counters: Arc<Counters>,
    ) -> Result<JobLogs, LogWriteError> {
        let open = |path: &PathBuf| {
            let sink = Sink::open(path, plan.append, plan.compressed);
            sink.map_err(|error| (path.clone(), error))
        };
        let mut sinks: Vec<(LogKind, Sink)> = Vec::new();
        for (kind, path) in &plan.files {
            sinks.push((*kind, open(path)?));
        }
        let histogram = match &plan.histogram {
            Some(histogram) => Some(open(&histogram.path)?),
            None => None,
        };
        for path in &plan.empty {
            open(path)?;
        }
        let open_windows = Arc::new(Mutex::new(OpenWindows::default()));
        let (outbox, inbox) = channel();
        let (emptied, empty) = channel();
        let writer = Writer {
            plan: plan.clone(),
            dirs,
            clock,
            counters: counters.clone(),
            open_windows: open_windows.clone(),
            inbox,
            emptied,
            sinks,
            histogram,
        };
        let thread = std::thread::Builder::new().name("logs".to_owned());
        let thread = thread.spawn(move || writer.run()).map_err(|error| {
            let path = plan.files.first().map(|(_, path)| path.clone());
            (path.unwrap_or_default(), error)
        })?;
        Ok(JobLogs {
            plan: plan.clone(),
            clock,
            counters,
            open_windows,
            outbox,
            empty: Some(empty),
            waits: Arc::default(),
            thread,
            began: 0,
            next: u64::MAX,
        })
    }

    /// Counting has begun, at `began` in ticks. The tape for the loop, where
    /// each I/O is logged.
    pub fn start(&mut self, began: u64) -> Option<Tape> {
        let mut open_windows = lock(&self.open_windows);
        let passed = Nanos(self.clock.ns_between(began, self.clock.now()));
        open_windows.epoch_ms = match self.plan.epoch.and_then(super::epoch_clock) {
            Some(clock) => clock.now_ms().saturating_sub(passed.millis()),
            None => 0,
        };
        open_windows.began = Some(began);
        let windows = self.plan.every > Nanos(0) && !self.plan.files.is_empty();
        open_windows.windows = windows.then(|| CountWindows::new(self.plan.every.0));
        open_windows.histograms = match &self.plan.histogram {
            Some(plan) if plan.every > Nanos(0) => Some(HistogramWindows::new(plan.every.0)),
            _ => None,
        };
        drop(open_windows);
        self.began = began;
        self.set_next(0);
        // The writer sleeps until it learns that there is something to watch.
        let _ = self.outbox.send(LogMessage::Started);
        let empty = self.empty.take()?;
        self.plan.each_io().then(|| Tape::new(self.turn(empty)))
    }

    /// When to look next, in ticks.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Close the windows that are over; hand over what was recorded.
    pub fn look(&mut self, now: u64, tape: &mut Option<Tape>) {
        let now_ns = self.clock.ns_between(self.began, now);
        lock(&self.open_windows).close(now_ns, &self.counters, ReadBy::Job);
        if let Some(tape) = tape {
            tape.hand_over();
        }
        self.set_next(now_ns);
    }

    fn set_next(&mut self, now_ns: u64) {
        let window = lock(&self.open_windows).next_ns();
        let hand_over = self.plan.each_io().then_some(now_ns + HAND_OVER_NS);
        let next_ns = window.into_iter().chain(hand_over).min();
        self.next = next_ns.map_or(u64::MAX, |ns| self.clock.after(self.began, ns));
    }

    /// The job has ended, at `now`: everything is written when this returns.
    /// How often the job waited for its log.
    pub fn finish(self, now: u64, tape: Option<Tape>) -> Result<Waits, LogWriteError> {
        if let Some(mut tape) = tape {
            tape.hand_over();
        }
        let now_ns = self.clock.ns_between(self.began, now);
        lock(&self.open_windows).end(now_ns, &self.counters);
        let _ = self.outbox.send(LogMessage::Finish);
        let written = self.thread.join().unwrap_or_else(|_| {
            let path = self.plan.files.first().map(|(_, path)| path.clone());
            Err((path.unwrap_or_default(), io::Error::other("the thread that writes it ended")))
        });
        written.map(|()| *self.waits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives the tape a chunk for each that it fills: one that was written, a
    /// new one as long as there is memory for it, else the next to be written.
    fn turn(&self, empty: Receiver<Vec<Record>>) -> TapeConsumer {
        let (outbox, waits, clock) = (self.outbox.clone(), self.waits.clone(), self.clock);
        let most = (self.plan.memory / (CHUNK * size_of::<Record>())).max(4);
        let mut made = 0;
        Box::new(move |full| {
            if !full.is_empty() {
                // Without a writer there is nothing to be done; finish() will say so.
                let _ = outbox.send(LogMessage::Records(full));
            }
            if let Ok(chunk) = empty.try_recv() {
                return chunk;
            }
            if made < most {
                made += 1;
                return Vec::with_capacity(CHUNK);
            }
            let began = clock.now();
            let chunk = empty.recv_timeout(Duration::from_secs(3600));
            let mut waits = waits.lock().unwrap_or_else(PoisonError::into_inner);
            waits.times += 1;
            waits.took.0 += clock.ns_between(began, clock.now());
            chunk.unwrap_or_else(|_| Vec::with_capacity(CHUNK))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::{LogColumns, Value};
    use iosonde_base::Dir;
    use iosonde_stats::{CountersWriter, WhichLatencies};

    #[test]
    fn windows_of_a_job_that_stands_still_are_written_while_it_does() {
        let path = std::env::temp_dir().join(format!("iosonde-stall-{}.log", std::process::id()));
        let plan = LogsPlan {
            files: vec![(LogKind::Iops, path.clone())],
            empty: Vec::new(),
            every: Nanos::from_millis(100),
            value: Value::Average,
            columns: LogColumns {
                offset: false,
                issue_time: false,
                priority: 0,
                whole_priority: false,
            },
            histogram: None,
            append: false,
            compressed: false,
            epoch: None,
            cpus: None,
            memory: 0,
        };
        let dirs = PerDir([true, false, false]);
        let which = WhichLatencies {
            syncs: true,
            slat: false,
            clat: false,
            lat: false,
            response: Default::default(),
            dirs,
        };
        let (writer, counters) = CountersWriter::new(&which);
        let clock = Clock::monotonic();
        let mut logs = JobLogs::open(&plan, dirs, clock, counters).unwrap();
        // Seven I/Os at once; the eighth takes long, and nobody looks meanwhile.
        writer.counters().lane(Dir::Read).ios.add(7);
        assert!(logs.start(clock.now()).is_none(), "windows need no tape");
        let mut meanwhile = String::new();
        while meanwhile.lines().count() < 5 {
            std::thread::sleep(Duration::from_millis(5));
            meanwhile = std::fs::read_to_string(&path).unwrap();
        }
        writer.counters().lane(Dir::Read).ios.add(1);
        logs.finish(clock.now(), None).unwrap();
        let after = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();

        let first = "100, 70, 0, 0, 0\n200, 0, 0, 0, 0\n300, 0, 0, 0, 0\n";
        assert!(meanwhile.starts_with(first), "{meanwhile}");
        let values: Vec<u64> =
            after.lines().map(|line| line.split(", ").nth(1).unwrap().parse().unwrap()).collect();
        let zeroes = values.iter().filter(|&&value| value == 0).count();
        assert!(zeroes >= values.len() - 2 && zeroes >= 4, "{after}");
    }
}
