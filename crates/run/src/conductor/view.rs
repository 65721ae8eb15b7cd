//! The jobs of a run, for who reads their counters while they run.

use crate::control::{JobStage, Shared};
use crate::job::JobId;
use iosonde_base::{DIRS, Nanos, PerDir};
use iosonde_stats::Counters;
use iosonde_sys::counters::Usage;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A few numbers of a job, for the live line.
#[derive(Clone, Copy, Debug)]
pub struct JobSnapshot {
    /// What it is doing.
    pub state: JobStage,
    /// I/Os completed.
    pub ios: PerDir<u64>,
    /// Bytes moved.
    pub bytes: PerDir<u64>,
    /// Files open.
    pub open_files: u32,
    /// It has ended with an error.
    pub has_failed: bool,
}

/// The counters and stages of the jobs of a run. Any thread may read them at
/// any moment, and the jobs do not wait for it.
#[derive(Clone, Debug)]
pub struct RunView {
    jobs: Arc<[Arc<Shared>]>,
    began: Instant,
}

impl RunView {
    pub(super) fn new(jobs: &[Arc<Shared>], began: Instant) -> RunView {
        RunView { jobs: jobs.into(), began }
    }

    /// How long the run has lasted.
    pub fn elapsed(&self) -> Nanos {
        Nanos(self.began.elapsed().as_nanos() as u64)
    }

    /// The activity of a job.
    pub fn stage(&self, job: JobId) -> JobStage {
        self.jobs[job].state()
    }

    /// The counters of a job. They begin anew at the end of its ramp.
    pub fn counters(&self, job: JobId) -> &Counters {
        &self.jobs[job].counters
    }

    /// The processor time that a job's thread has used since it counts; zero
    /// after its end.
    pub fn used(&self, job: JobId) -> Usage {
        self.jobs[job].used().1
    }

    /// A few numbers of each job, in the order of the plan.
    pub fn snapshots(&self) -> Vec<JobSnapshot> {
        self.jobs.iter().map(|shared| snapshot(shared)).collect()
    }
}

pub(super) fn snapshot(shared: &Shared) -> JobSnapshot {
    JobSnapshot {
        state: shared.state(),
        ios: PerDir(DIRS.map(|dir| shared.counters.lane(dir).ios.get())),
        bytes: PerDir(DIRS.map(|dir| shared.counters.lane(dir).bytes.get())),
        open_files: shared.open_files.load(Ordering::Relaxed),
        has_failed: shared.failed.load(Ordering::Relaxed),
    }
}
