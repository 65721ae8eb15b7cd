//! The state file of a job that writes with verify, however it ends
//! (`verify_state_save`).

use crate::job::{JobError, JobPlan};
use iosonde_base::Errno;
use iosonde_engine::Failure;
use iosonde_sys::whole_file::WholeFile;
use iosonde_verify::{StateFile, VerifyJob};
use std::io::{Result, Write};
use std::path::{Path, PathBuf};

/// Save the state of a job, for a later run that checks what it wrote.
pub(super) fn save(job: &JobPlan, verify: &VerifyJob) -> std::result::Result<(), JobError> {
    let Some(path) = job.state_file() else { return Ok(()) };
    let (writes, failed) = verify.writes();
    let state = StateFile {
        writes,
        job: job.state_index(),
        name: StateFile::cut_name(&job.name),
        in_flight: verify.writes_in_flight(),
        failed,
        ..StateFile::default()
    };
    put(&path, &state.encode()).map_err(|error| unsaved(path, error.into()))
}

/// The file, durable: it is there for the case that the system stops. One of before stays
/// until this is complete.
fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes)?;
    file.finish_durably()
}

fn unsaved(path: PathBuf, errno: Errno) -> JobError {
    let detail = "use --aux-path=DIRECTORY for another place, or verify_state_save=0 for none";
    let failure = Failure::engine("write the verify state file", errno);
    JobError { failure, path: Some(path), detail: Some(detail.to_owned()) }
}
