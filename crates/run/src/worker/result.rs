//! The result of a job, and its error if it failed; also of jobs that
//! never came to run, or that still do.

use crate::control::{JobStage, Shared};
use crate::evidence::job_readings::JobSeen;
use crate::job::{JobError, JobPlan};
use iosonde_base::{Errno, Nanos};
use iosonde_engine::{Failure, Lateness};
use iosonde_report::{SteadyResult, VerifyCounts, WrongBlocks};
use iosonde_stats::{Counters, Snapshot};
use iosonde_sys::clock::Clock;
use iosonde_sys::counters::Usage;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A phase of a job, named for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseTime {
    /// `open`, `pre_read`, `delay`, `ramp`, `run`, `drain`, `sync`.
    pub name: &'static str,
    /// When it began, by the clock that all workers read.
    pub began: Nanos,
    /// How long it took.
    pub took: Nanos,
}

/// The blocks that a job wrote and checked, and how long it took.
#[derive(Clone, Debug, Default)]
pub struct VerifyResult {
    /// The blocks.
    pub counts: VerifyCounts,
    /// From the end of the writes of a pass to the end of its checks, over all
    /// passes.
    pub after_writes: Nanos,
    /// Of that, the time in which blocks were read.
    pub reading: Nanos,
    /// The blocks that were wrong.
    pub wrong_blocks: WrongBlocks,
    /// Why completed writes were not checked, if any were not.
    pub unchecked_reason: Option<String>,
}

/// The result of a job.
#[derive(Clone, Debug)]
pub struct JobResult {
    /// The account at the end.
    pub snapshot: Snapshot,
    /// How long was counted: without the ramp, with the final syncs.
    pub runtime: Nanos,
    /// From the start of the run to its end, or to an interim report; the
    /// conductor sets it.
    pub elapsed: Nanos,
    /// When counting began, in milliseconds since 1970.
    pub began_unix_ms: u64,
    /// Processor time and the like, over the counted time.
    pub usage: Usage,
    /// How long its thread was ready and had no processor, over the counted time.
    pub run_delay_ns: Option<u64>,
    /// Its error, if it failed.
    pub error: Option<JobError>,
    /// Errors that were tolerated, and the first of them.
    pub tolerated: (u64, Option<Errno>),
    /// Its phases, in order.
    pub phases: Vec<PhaseTime>,
    /// The depth that `latency_target` found.
    pub depth_found: Option<u32>,
    /// The thread's number in the system.
    pub thread_id: u32,
    /// It ended within its ramp: what it counted was done there.
    pub never_counted: bool,
    /// Notes for the user that are no errors.
    pub notes: Vec<String>,
    /// Why it did no I/O at all, if it did none and did not fail.
    pub idle: Option<String>,
    /// How late it did what was recorded, if it kept to the recording's times.
    pub lateness: Option<Lateness>,
    /// Whether its numbers held still, where that was asked; of jobs judged
    /// together, with the last.
    pub steady: Option<SteadyResult>,
    /// What was observed of its files and of its thread, if requested.
    pub seen: Option<Box<JobSeen>>,
    /// What it wrote and checked, if it was to verify.
    pub verify: Option<VerifyResult>,
    /// Zones that held data and were reset.
    pub zone_resets: u64,
}

impl JobResult {
    /// Whether it came so far that it removes its files at its end.
    pub fn ran(&self) -> bool {
        !self.phases.is_empty()
    }
}

/// The result of a job that never came to run.
pub fn failed_to_start(error: JobError) -> JobResult {
    JobResult::failed_to_start(error, Snapshot::default())
}

/// The same on a job's thread, of whose stack it takes little.
#[cold]
#[inline(never)]
pub fn boxed_failure(error: JobError, counters: &Counters) -> Box<JobResult> {
    Box::new(JobResult::failed_to_start(error, counters.snapshot()))
}

/// The result of a job for which the system gave no thread.
pub fn no_thread(error: std::io::Error) -> JobResult {
    failed_to_start(JobError {
        failure: Failure::engine("start its thread", error.into()),
        path: None,
        detail: None,
    })
}

/// The result of a job that panicked: a defect of ours, and reported as such.
#[cold]
#[inline(never)]
pub fn panicked(shared: &Shared, panic: Box<dyn std::any::Any + Send>) -> Box<JobResult> {
    let words = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()))
        .unwrap_or_else(|| "no words".to_owned());
    shared.enter(JobStage::Finished);
    let error = JobError {
        failure: Failure::engine("run", Errno::EIO),
        path: None,
        detail: Some(format!("a defect of iosonde, please report it: {words}")),
    };
    boxed_failure(error, &shared.counters)
}

/// Counts of a job that still runs.
pub fn so_far(job: &JobPlan, shared: &Shared, elapsed: Duration) -> JobResult {
    let began = shared.began.load(Ordering::Relaxed);
    let elapsed = Nanos(elapsed.as_nanos() as u64);
    let runtime = match (began, Clock::pick(shared.clock)) {
        (1.., Ok(clock)) => Nanos(clock.ns_between(began, clock.now())),
        _ => Nanos(0),
    };
    let mut snapshot = shared.counters.snapshot();
    if job.engine.caps.sync && job.offload.is_none() {
        settle_one_by_one(&mut snapshot);
    }
    let (thread_id, usage) = shared.used();
    let tolerated = snapshot.lanes.iter().map(|lane| lane.errors).sum();
    JobResult {
        runtime,
        elapsed,
        began_unix_ms: iosonde_base::time::unix_ms().saturating_sub(runtime.millis()),
        usage,
        tolerated: (tolerated, None),
        thread_id,
        never_counted: began == 0,
        ..JobResult::without_a_run(snapshot)
    }
}

/// Counts that a loop of one I/O at a time updates only at the end of a slice.
fn settle_one_by_one(snapshot: &mut Snapshot) {
    let mut total = 0;
    for lane in &mut snapshot.lanes {
        lane.issued = lane.ios + lane.errors;
        total += lane.issued;
    }
    snapshot.depth_level[0] = total;
    (snapshot.depth_submit[1], snapshot.depth_complete[1]) = (total, total);
    (snapshot.submits, snapshot.completes) = (total, total);
}

impl JobResult {
    pub(super) fn failed_to_start(error: JobError, snapshot: Snapshot) -> JobResult {
        JobResult { error: Some(error), ..JobResult::without_a_run(snapshot) }
    }

    /// Of these counts, and nothing else known.
    fn without_a_run(snapshot: Snapshot) -> JobResult {
        JobResult {
            snapshot,
            runtime: Nanos(0),
            elapsed: Nanos(0),
            began_unix_ms: 0,
            usage: Usage::default(),
            run_delay_ns: None,
            error: None,
            tolerated: (0, None),
            phases: Vec::new(),
            depth_found: None,
            thread_id: iosonde_sys::process::thread_id(),
            never_counted: false,
            notes: Vec::new(),
            idle: None,
            lateness: None,
            steady: None,
            seen: None,
            verify: None,
            zone_resets: 0,
        }
    }
}
