//! Bytes of the jobs' files that are dirty in the page cache, while jobs run.

use iosonde_direct::cache;
use iosonde_run::job::{FileKind, FilePlan, JobPlan, Plan};
use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
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
    /// Of all jobs together.
    pub total: Option<u64>,
    due: Instant,
}

impl DirtyBytes {
    /// Of so many jobs, before any was looked at.
    pub fn new(jobs: usize) -> DirtyBytes {
        DirtyBytes { by_job: vec![None; jobs], total: None, due: Instant::now() }
    }

    /// Look, if it is time.
    pub fn look(&mut self, plan: &Plan) {
        let began = Instant::now();
        if began < self.due {
            return;
        }
        let mut files_left = FILES_MOST;
        for (bytes, job) in self.by_job.iter_mut().zip(&plan.jobs) {
            *bytes = of_job(job, &mut files_left);
        }
        self.total = total(&self.by_job, plan);
        let ended = Instant::now();
        self.due = ended + ((ended - began) * PART).max(EVERY_LEAST);
    }
}

/// Of all jobs, files that several share counted once; `None` if any is
/// unknown that could have some.
fn total(by_job: &[Option<u64>], plan: &Plan) -> Option<u64> {
    let mut seen: HashSet<(&Path, u64)> = HashSet::new();
    let writers = by_job.iter().zip(&plan.jobs).filter(|(_, job)| is_buffered_writer(job));
    let mut total = 0;
    for (bytes, job) in writers {
        let bytes = (*bytes)?;
        let is_new = job.files.first().is_some_and(|file| seen.insert((&file.path, file.offset)));
        if is_new {
            total += bytes;
        }
    }
    Some(total)
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
