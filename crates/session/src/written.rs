//! What jobs write to, and how it reaches storage before the next run.

use crate::RunEnd;
use iosonde_base::Dir;
use iosonde_run::job::{FilePlan, JobPlan, Plan};
use std::fs::File;

/// What jobs write to.
pub fn written(plan: &Plan) -> impl Iterator<Item = (&JobPlan, &FilePlan)> {
    let writing = plan.jobs.iter().filter(|job| job.dirs[Dir::Write]);
    writing.flat_map(|job| job.files.iter().map(move |file| (job, file)))
}

/// Write back the dirty data of a run, so that the next does not pay for it.
///
/// # Errors
/// A file cannot be synced.
pub fn write_back(plan: &Plan) -> Result<(), RunEnd> {
    for path in written(plan).map(|(_, file)| &file.path) {
        // A job may take its files away itself.
        let Ok(file) = File::open(path) else { continue };
        file.sync_all()
            .map_err(|error| RunEnd::failed(format!("fsync {}: {error}", path.display())))?;
    }
    Ok(())
}
