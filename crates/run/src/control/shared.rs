//! State that a job shares with the conductor, and the gate that a wave waits at.

use super::error_dump::Backlog;
use super::file_locks::LockTurn;
use super::ramp_tally::RampTally;
use super::wear_out::WearOut;
use iosonde_engine::{ErrorReporter, SliceControl};
use iosonde_report::WrongBlocks;
use iosonde_stats::Counters;
use iosonde_sys::clock::{Clock, ClockSource};
use iosonde_sys::counters::Usage;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A job's activity, for the live line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum JobStage {
    /// Planned, its thread not yet started.
    Waiting = 0,
    /// Opening its files.
    Opening = 1,
    /// Ready, waiting for the others or for its delay.
    Ready = 2,
    /// Running, not counted yet.
    Ramping = 3,
    /// Running.
    Running = 4,
    /// Making durable.
    Syncing = 5,
    /// Reading back what it wrote.
    Verifying = 6,
    /// Its result is handed over.
    Finished = 7,
}

impl JobStage {
    const ALL: [JobStage; 8] = [
        JobStage::Waiting,
        JobStage::Opening,
        JobStage::Ready,
        JobStage::Ramping,
        JobStage::Running,
        JobStage::Syncing,
        JobStage::Verifying,
        JobStage::Finished,
    ];

    /// Whether a job does I/O in it.
    pub fn is_running(self) -> bool {
        use JobStage::{Ramping, Running, Syncing, Verifying};
        matches!(self, Ramping | Running | Syncing | Verifying)
    }
}

/// State that a job shares with the conductor.
#[derive(Debug)]
pub struct Shared {
    /// When its slice ends, and whether it shall stop.
    pub control: Arc<SliceControl>,
    /// Its account.
    pub counters: Arc<Counters>,
    state: AtomicU8,
    /// Files that are open.
    pub open_files: AtomicU32,
    /// When counting began, in ticks; zero before.
    pub began: AtomicU64,
    /// Its thread's number in the system, and what that had used of the machine
    /// when counting began.
    pub(crate) used_before: Mutex<(u32, Usage)>,
    /// The clock of its ticks.
    pub(crate) clock: ClockSource,
    /// The trigger has ended the run.
    pub(crate) triggered: AtomicBool,
    /// It has ended with an error.
    pub(crate) failed: AtomicBool,
    /// Blocks that verify found wrong.
    pub(crate) wrong_blocks: Arc<Mutex<WrongBlocks>>,
    /// What has to do with other jobs.
    pub with_others: WithOthers,
}

impl Shared {
    /// Before the job starts.
    pub fn new(counters: Arc<Counters>, clock: ClockSource, with_others: WithOthers) -> Shared {
        Shared {
            control: Arc::default(),
            counters,
            state: AtomicU8::new(JobStage::Waiting as u8),
            open_files: AtomicU32::new(0),
            began: AtomicU64::new(0),
            used_before: Mutex::default(),
            clock,
            triggered: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            wrong_blocks: Arc::default(),
            with_others,
        }
    }

    /// What its thread has used since counting began, as far as that is known.
    pub(crate) fn used(&self) -> (u32, Usage) {
        let (thread, before) = *self.used_before.lock().unwrap_or_else(PoisonError::into_inner);
        (thread, Usage::of(thread).map_or(Usage::default(), |now| now.since(&before)))
    }

    /// How long ago counting began; `None` before.
    pub(crate) fn began_ago(&self) -> Option<Duration> {
        let began = Some(self.began.load(Ordering::Relaxed)).filter(|&began| began > 0)?;
        let clock = Clock::pick(self.clock).ok()?;
        Some(Duration::from_nanos(clock.ns_between(began, clock.now())))
    }

    /// Counting begins, and this was used before.
    pub(crate) fn note_used(&self, before: Usage) {
        let thread = iosonde_sys::process::thread_id();
        *self.used_before.lock().unwrap_or_else(PoisonError::into_inner) = (thread, before);
    }

    /// Whether the trigger has ended the run.
    pub(crate) fn triggered(&self) -> bool {
        self.triggered.load(Ordering::Relaxed)
    }

    /// The blocks that verify has found wrong so far.
    pub(crate) fn wrong_blocks(&self) -> WrongBlocks {
        self.wrong_blocks.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the job is doing.
    pub fn state(&self) -> JobStage {
        JobStage::ALL[usize::from(self.state.load(Ordering::Relaxed))]
    }

    pub(crate) fn enter(&self, state: JobStage) {
        self.state.store(state as u8, Ordering::Relaxed);
    }
}

/// Shared with other jobs, given by the conductor.
#[derive(Debug, Default)]
pub struct WithOthers {
    /// Its turn at files that are locked.
    pub turn: Option<LockTurn>,
    /// Bytes moved in a ramp, with the jobs that ramp together.
    pub ramp: Arc<RampTally>,
    /// Where it waits at the end of its time, with `wear_out`.
    pub wear_out: Option<WearOut>,
    /// Called for errors that are tolerated.
    pub report_error: Option<ErrorReporter>,
    /// Errors that wait to be reported.
    pub backlog: Arc<Backlog>,
    /// Receives fio's messages for each wrong block.
    pub wrong_blocks: Option<WrongBlockReporter>,
}

/// Receives the messages for a wrong block, a line each, on the job's thread.
#[derive(Clone)]
pub struct WrongBlockReporter(Arc<dyn Fn(Vec<String>) + Send + Sync>);

impl WrongBlockReporter {
    /// From what receives them.
    pub fn new(receive: impl Fn(Vec<String>) + Send + Sync + 'static) -> WrongBlockReporter {
        WrongBlockReporter(Arc::new(receive))
    }

    pub(crate) fn send(&self, lines: Vec<String>) {
        (self.0)(lines);
    }
}

impl std::fmt::Debug for WrongBlockReporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WrongBlockReporter")
    }
}

/// Opens once, for all that wait.
#[derive(Debug, Default)]
pub struct Gate {
    opened_at: Mutex<Option<GateOpening>>,
    opened: Condvar,
}

/// When a gate was opened, and when the first gate of the run was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GateOpening {
    pub(crate) at: Instant,
    pub(crate) run_began: Instant,
}

impl Gate {
    /// Let everybody through, now and later; `run_began` is when the first gate of
    /// the run was opened, if this is not the first.
    pub fn open(&self, run_began: Option<Instant>) -> Instant {
        let at = Instant::now();
        let run_began = run_began.unwrap_or(at);
        let opened = GateOpening { at, run_began };
        *self.opened_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened);
        self.opened.notify_all();
        run_began
    }

    /// Wait until it is open; when that was.
    pub(crate) fn pass(&self) -> GateOpening {
        let mut opened_at = self.opened_at.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(moment) = *opened_at {
                return moment;
            }
            opened_at = self.opened.wait(opened_at).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
