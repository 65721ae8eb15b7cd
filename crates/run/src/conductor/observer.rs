//! Events of a run, and their observers.

use super::peers::OtherHosts;
use super::view::{JobSnapshot, RunView};
use crate::job::{JobError, JobId, JobPlan};
use crate::layout::Missing;
use crate::worker::JobResult;
use iosonde_base::Nanos;
use std::path::PathBuf;
use std::time::Duration;

/// An event of a run, in order.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// The run begins; nothing has been laid out.
    Begun {
        /// For who reads counters meanwhile.
        view: &'a RunView,
    },
    /// A job's files are about to be filled with data.
    LayingOut {
        /// Which job.
        job: &'a JobPlan,
        /// How much.
        missing: Missing,
    },
    /// These jobs have been let go.
    WaveStarted {
        /// Which.
        jobs: &'a [JobId],
    },
    /// Time passes while jobs run.
    Tick {
        /// All jobs of the plan, in order.
        snapshots: &'a [JobSnapshot],
        /// Since the run began.
        elapsed: Nanos,
        /// What the jobs of other hosts do, where this one hears of it.
        others: Option<OtherHosts>,
    },
    /// A job tolerated an error, and reports each (`error_dump`).
    ErrorTolerated {
        /// Which job.
        job: &'a JobPlan,
        /// Which error.
        error: &'a JobError,
    },
    /// A job read a block that is not what was written.
    WrongBlock {
        /// Which job.
        job: &'a JobPlan,
        /// fio's messages for it.
        lines: &'a [String],
    },
    /// A job has ended.
    JobFinished {
        /// Which job.
        job: &'a JobPlan,
        /// How.
        result: &'a JobResult,
    },
    /// A signal asks for the end.
    Stopping {
        /// Its number.
        signal: i32,
    },
    /// An account of what is known so far is asked for (SIGUSR1, an interval, a
    /// file).
    AccountAsked {
        /// All jobs; those that run with what they have counted so far.
        results: &'a [Option<JobResult>],
    },
    /// Every job has ended, or has been given up.
    Ended,
}

/// Receives the events of a run.
pub trait Observer {
    /// Called for each event.
    fn see(&mut self, event: &RunEvent<'_>);

    /// How often it wants [`RunEvent::Tick`]; `None` for never.
    fn every(&self) -> Option<Duration> {
        None
    }

    /// How often it wants [`RunEvent::AccountAsked`]; `None` for only when a
    /// signal asks.
    fn account_every(&self) -> Option<Duration> {
        None
    }

    /// A file that requests [`RunEvent::AccountAsked`] by being created; it is
    /// removed then.
    fn account_file(&self) -> Option<PathBuf> {
        None
    }
}

/// Nobody looks on: for runs that are over before a human could.
#[derive(Clone, Copy, Debug)]
pub struct Unseen;

impl Observer for Unseen {
    fn see(&mut self, _: &RunEvent<'_>) {}
}
