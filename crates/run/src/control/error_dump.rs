//! Errors that a job tolerates, reported as they occur (`error_dump`).

use crate::job::{JobError, JobPlan};
use iosonde_engine::{ErrorReporter, Failure};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Errors that wait to be reported. A device may fail faster than
/// anybody can write: past a limit they are counted only.
#[derive(Debug, Default)]
pub struct Backlog {
    waiting: AtomicU64,
    suppressed: AtomicU64,
}

/// How many may wait to be reported.
const WAITING_MOST: u64 = 4096;

impl Backlog {
    fn admits(&self) -> bool {
        let admitted = self.waiting.load(Ordering::Relaxed) < WAITING_MOST;
        let count = if admitted { &self.waiting } else { &self.suppressed };
        count.fetch_add(1, Ordering::Relaxed);
        admitted
    }

    /// One has been reported.
    pub fn reported(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many were not reported.
    pub fn suppressed(&self) -> u64 {
        self.suppressed.load(Ordering::Relaxed)
    }
}

/// Called by a job's loop for each error it tolerates, where the job asks for it.
pub(crate) fn error_reporter(
    job: &JobPlan,
    backlog: &Arc<Backlog>,
    report: impl Fn(JobError) + Send + Sync + 'static,
) -> Option<ErrorReporter> {
    if !job.measure.dump_errors {
        return None;
    }
    let paths: Vec<PathBuf> = job.files.iter().map(|file| file.path.clone()).collect();
    let backlog = backlog.clone();
    Some(ErrorReporter::new(move |failure: &Failure| {
        if backlog.admits() {
            let path = failure.file.and_then(|file| paths.get(file.0 as usize).cloned());
            report(JobError { failure: failure.clone(), path, detail: None });
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_and_what_is_reported_makes_room() {
        let backlog = Backlog::default();
        let admitted = (0..WAITING_MOST + 10).filter(|_| backlog.admits()).count() as u64;
        assert_eq!((admitted, backlog.suppressed()), (WAITING_MOST, 10));
        backlog.reported();
        assert!(backlog.admits());
        assert!(!backlog.admits());
    }
}
