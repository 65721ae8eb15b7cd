//! Bytes of the jobs' files that are dirty in the page cache, while jobs run.

use iosonde_direct::cache;
use iosonde_run::job::{FileKind, FilePlan, JobPlan, Plan};
use std::fs::File;
use std::time::{Duration, Instant};

/// Files of a job that are looked at; with more, its bytes are unknown.
const FILES_MOST_OF_JOB: usize = 32;
/// And of all jobs together: each costs some ten microseconds.
const FILES_MOST: usize = 256;
/// The system walks over all pages of a file, for a millisecond a GiB: looking
/// takes at most one part in so many of the time.
const PART: u32 = 500;
const EVERY_LEAST: Duration = Duration::from_millis(900);

/// Looks now and then.
pub struct DirtyBytes {
    /// By job; `None` where that is unknown or there is nothing to know.
    pub by_job: Vec<Option<u64>>,
    due: Instant,
}

impl DirtyBytes {
    /// Of so many jobs, before any was looked at.
    pub fn new(jobs: usize) -> DirtyBytes {
        DirtyBytes { by_job: vec![None; jobs], due: Instant::now() }
    }

    /// Look, if it is time; whether it was.
    pub fn look(&mut self, plan: &Plan) -> bool {
        let began = Instant::now();
        if began < self.due {
            return false;
        }
        let mut files_left = FILES_MOST;
        for (bytes, job) in self.by_job.iter_mut().zip(&plan.jobs) {
            *bytes = of_job(job, &mut files_left);
        }
        let ended = Instant::now();
        self.due = ended + ((ended - began) * PART).max(EVERY_LEAST);
        true
    }
}

/// Whether a job's writes go through the page cache.
pub fn is_buffered_writer(job: &JobPlan) -> bool {
    job.fill.writes && !job.open.mode.direct && !job.engine.caps.diskless && !job.engine.caps.no_io
}

fn of_job(job: &JobPlan, files_left: &mut usize) -> Option<u64> {
    if !is_buffered_writer(job) || job.files.len() > FILES_MOST_OF_JOB.min(*files_left) {
        return None;
    }
    *files_left -= job.files.len();
    let holds_data = |file: &&FilePlan| matches!(file.kind, FileKind::Regular | FileKind::Block);
    job.files.iter().filter(holds_data).try_fold(0, |sum, file| {
        let opened = File::open(&file.path).ok()?;
        let found = cache::residency(&opened, file.offset, file.bytes);
        Some(sum + *found.known()?.unwritten_bytes().known()?)
    })
}
