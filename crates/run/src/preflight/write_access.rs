//! Leave to write: asked for every path of a run before anything is touched,
//! and kept until the report is written.

use crate::job::{FileKind, Plan};
use iosonde_base::Dir;
use iosonde_sys::guard::{Guard, Hold, MountedWrite, WriteRefusal};
use std::collections::BTreeSet;
use std::path::Path;

/// Ask for every path that the plan writes to. A device that is mounted or
/// part of something is refused, and so is a new name under /dev.
///
/// # Errors
/// All refusals, in the order of the jobs.
pub fn devices(plan: &Plan) -> Result<Vec<Hold>, Vec<WriteRefusal>> {
    let (mut holds, mut refusals) = (Vec::new(), Vec::new());
    let mut asked: BTreeSet<&Path> = BTreeSet::new();
    let mut guards: [Option<Guard>; 2] = [None, None];
    for job in &plan.jobs {
        let writes = job.dirs[Dir::Write] || job.dirs[Dir::Trim];
        let creates = job.files.iter().any(|file| file.need != crate::job::Need::Nothing);
        if !writes && !creates {
            continue;
        }
        for file in job.files.iter().filter(|file| file.kind != FileKind::None) {
            // A job that only reads lays out regular files, and writes to no device.
            if !writes && file.kind != FileKind::Regular || !asked.insert(&file.path) {
                continue;
            }
            let mounted = match job.open.allow_mounted_write {
                true => MountedWrite::Allow,
                false => MountedWrite::Refuse,
            };
            let guard = guards[usize::from(job.open.allow_mounted_write)]
                .get_or_insert_with(|| Guard::now(mounted));
            match guard.may_write(&file.path) {
                Ok(hold) => holds.push(hold),
                Err(refusal) => refusals.push(refusal),
            }
        }
    }
    if refusals.is_empty() { Ok(holds) } else { Err(refusals) }
}
