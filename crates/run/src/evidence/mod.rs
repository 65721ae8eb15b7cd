//! Signals read around a run: which files, when, and what they add up to.
//!
//! Jobs look at their own files and thread before and after their loop; the
//! conductor looks at the machine before and after each wave, and counts bytes
//! now and then. Nothing is read unless [`ask`] said so.

mod collect;
mod durability;
pub(crate) mod job_readings;
mod residency;
mod run_readings;
mod series;
mod stops;
mod upper_bound;
mod windows;

pub use collect::evidence;
pub use run_readings::RunSeen;
pub(crate) use run_readings::Watcher;

use crate::job::{Plan, PlannedReadings};

/// Files that are looked at before and after, of all jobs together: each costs
/// some ten microseconds, or a millisecond for each cached GiB.
const FILES_MOST: usize = 256;
/// And of one job.
const FILES_MOST_OF_JOB: usize = 32;

/// Have the jobs of a plan look at their files and at themselves.
pub fn ask(plan: &mut Plan) {
    let each = (FILES_MOST / plan.jobs.len().max(1)).clamp(1, FILES_MOST_OF_JOB);
    for wave in &plan.waves {
        let waits = |&job: &usize| plan.jobs[job].coordination.waits_for.is_some();
        let alone = wave.len() == 1 || wave.iter().all(waits);
        for &job in wave {
            plan.jobs[job].measure.readings =
                Some(PlannedReadings { files: each, alone: alone && wave.len() == 1 });
        }
    }
}
