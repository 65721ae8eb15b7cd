//! Limits of the process that a run needs raised.

use crate::job::Plan;
use iosonde_sys::process::{open_files_limit, raise_open_files_limit};

/// Let the process have as many descriptors as it may. Each job's thread has
/// its own table, so the job with the most files decides.
///
/// # Errors
/// In words, when the plan needs more than the hard limit.
pub fn raise(plan: &Plan) -> Result<(), String> {
    /// Standard streams, the report, signals, io_uring, logs.
    const OTHERS: u64 = 64;
    let most = plan.jobs.iter().map(|job| job.files.len().min(job.source.open_files)).max();
    let wanted = most.unwrap_or(0) as u64 + OTHERS;
    let Some((current, maximum)) = open_files_limit() else { return Ok(()) };
    if current >= wanted {
        return Ok(());
    }
    let done = raise_open_files_limit();
    match maximum {
        Some(maximum) if maximum < wanted => Err(format!(
            "{wanted} files shall be open at once, and the limit is {maximum}; \
             set openfiles= lower, or raise the limit (ulimit -n)"
        )),
        _ => done.map_err(|error| format!("cannot raise the limit of open files: {error}")),
    }
}
