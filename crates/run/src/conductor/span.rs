//! When a job's I/Os were counted.

use crate::job::JobPlan;
use crate::worker::JobResult;
use iosonde_base::time::unix_ns;

/// When a job's I/Os were counted, by the clock of the day, in nanoseconds of Unix time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSpan {
    /// Its first.
    pub began_unix_ns: u64,
    /// Its last, final syncs included.
    pub ended_unix_ns: u64,
}

/// When a job counted: from the moment that it was let go, unless it waited or ramped then.
pub(super) fn span(job: &JobPlan, result: &JobResult, let_go_unix_ns: u64) -> JobSpan {
    let JobResult { runtime, .. } = result;
    let waits = job.time.delay.0 > 0 || job.time.ramp.0 > 0 || job.time.ramp_bytes > 0;
    let began_unix_ns = if waits { unix_ns().saturating_sub(runtime.0) } else { let_go_unix_ns };
    JobSpan { began_unix_ns, ended_unix_ns: began_unix_ns + runtime.0 }
}
