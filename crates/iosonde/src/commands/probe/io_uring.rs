//! One read with io_uring, run as a job.

use iosonde_options::Origin;
use iosonde_run::conductor::{Unseen, conduct};
use iosonde_run::job::Need;
use iosonde_run::plan;
use iosonde_run::worker::JobResult;
use iosonde_spec::JobSpec;
use std::path::Path;
use std::sync::Arc;

/// Read one block of a file that is there.
///
/// # Errors
/// Why the read failed.
pub fn read_one(path: &Path, block: u64, direct: bool, polled: bool) -> Result<(), String> {
    let mut spec = JobSpec::default();
    // Colons part names in the job language.
    let path = path.to_string_lossy().replace(':', "\\:");
    let flag = |yes: bool| if yes { "1" } else { "0" };
    let mut options = vec![
        ("ioengine", "io_uring".to_owned()),
        ("filename", path),
        ("rw", "read".to_owned()),
        ("bs", block.to_string()),
        ("size", block.to_string()),
        ("direct", flag(direct).to_owned()),
        ("allow_file_create", "0".to_owned()),
        ("invalidate", "0".to_owned()),
    ];
    if polled {
        options.push(("hipri", "1".to_owned()));
    }
    for (name, value) in options {
        spec.set(name, Some(&value), Origin::Default).map_err(|error| error.to_string())?;
    }
    let mut plan = plan::alone("probe", spec).map_err(|error| error.to_string())?;
    for job in &mut plan.jobs {
        job.files.iter_mut().for_each(|file| file.need = Need::Nothing);
    }
    let outcome = conduct(Arc::new(plan), &mut Unseen).map_err(|error| error.to_string())?;
    match outcome.results.into_iter().flatten().next() {
        Some(JobResult { error: Some(error), .. }) => Err(error.to_string()),
        Some(result) if result.snapshot.lanes[0].bytes == block => Ok(()),
        Some(_) => Err("fewer bytes were read than requested".to_owned()),
        None => Err("interrupted".to_owned()),
    }
}
