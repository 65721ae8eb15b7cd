//! Who a job's thread is: its name, where its memory comes from, its user.

use crate::job::{JobError, JobPlan};

/// Settle the calling thread as the job asks. The user comes last: it may not
/// do the rest any more.
pub(crate) fn settle(job: &JobPlan) -> Result<(), JobError> {
    use iosonde_sys::process;
    let thread = &job.thread;
    if let Some(name) = &thread.name {
        process::set_thread_name(name).map_err(|error| JobError::system("set comm", &error))?;
    }
    if let Some(policy) = &thread.memory {
        policy.set().map_err(|error| JobError::system("set numa_mem_policy", &error))?;
    }
    if let Some(gid) = thread.group {
        process::become_group(gid).map_err(|error| JobError::system("set gid", &error))?;
    }
    if let Some(uid) = thread.user {
        process::become_user(uid).map_err(|error| JobError::system("set uid", &error))?;
    }
    Ok(())
}
