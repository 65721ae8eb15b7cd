//! A job's logs, from opening to closing.

use super::Worker;
use crate::control::Shared;
use crate::job::{JobError, JobPlan};
use crate::logs::{JobLogs, LogWriteError, Waits};
use iosonde_engine::Failure;
use iosonde_sys::clock::Clock;

/// Open the logs that the job asks for.
pub(super) fn open(
    job: &JobPlan,
    clock: Clock,
    shared: &Shared,
) -> Result<Option<JobLogs>, JobError> {
    let Some(plan) = &job.measure.logs else { return Ok(None) };
    let logs = JobLogs::open(plan, job.dirs, clock, shared.counters.clone());
    logs.map(Some).map_err(|error| not_logged("open", error))
}

impl Worker<'_> {
    /// Write what is left. A log that could not be written fails the job.
    pub(super) fn close_logs(&mut self, ended: u64) {
        let Some(logs) = self.logs.take() else { return };
        match logs.finish(ended, self.drive.tape.take()) {
            Ok(Waits { times: 0, .. }) => {}
            Ok(Waits { times, took }) => self.notes.push(format!(
                "job {} waited {times} times, {} ms together, because its logs could not be \
                 written as fast as its I/O came: log_avg_msec makes them shorter",
                self.job.name,
                took.millis()
            )),
            Err(error) => {
                self.error.get_or_insert(not_logged("write", error));
            }
        }
    }
}

fn not_logged(doing: &'static str, (path, error): LogWriteError) -> JobError {
    JobError {
        failure: Failure::engine(doing, error.into()),
        path: Some(path),
        detail: Some("a log of the job".to_owned()),
    }
}
