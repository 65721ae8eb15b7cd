//! Files that are laid out before any job starts, and those of them that no job came to use.

use super::{Conductor, RunMessage};
use crate::job::{FileKind, FilePlan, JobId, JobPlan, Need, Plan};
use crate::layout::{self, Added};
use crate::worker;
use iosonde_base::Errno;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::Builder;
use std::time::Instant;

impl Conductor<'_> {
    /// Files of all jobs, one job after the other, before any starts. A job
    /// whose files are unavailable ends here; the others go on. On a
    /// separate thread, so that signals are heard when the storage does not answer.
    pub(super) fn lay_out(&mut self) {
        if !self.plan.jobs.iter().any(is_laid_out_first) {
            return;
        }
        let began = Instant::now();
        let (plan, stop) = (self.plan.clone(), self.stop_layout.clone());
        let outbox = self.outbox.clone();
        let body = move || {
            let laid_out = catch_unwind(AssertUnwindSafe(|| lay_out_all(&plan, &stop, &outbox)));
            // After a defect of ours, jobs say which of their files are missing.
            let _ = outbox.send(RunMessage::LaidOut(laid_out.unwrap_or_default()));
        };
        match Builder::new().name("layout".to_owned()).spawn(body) {
            Ok(_) => {
                self.await_laid_out();
                self.witness.laid_out(began);
            }
            Err(error) => {
                let errno = Errno::known(&error).unwrap_or(Errno::EAGAIN);
                for id in 0..self.plan.jobs.len() {
                    self.finished(id, worker::no_thread(errno.into()));
                }
            }
        }
    }

    fn await_laid_out(&mut self) {
        while !self.abandoned {
            match self.next_message(None) {
                Some(RunMessage::LaidOut(added)) => return self.added = added,
                None => return,
                Some(other) => self.handle(other),
            }
        }
    }

    /// Files that were laid out for jobs which remove them at their end and never
    /// came to run.
    pub(super) fn remove_unused(&mut self) {
        let ran = |job: JobId| self.results[job].as_ref().is_some_and(|result| result.ran());
        let jobs = self.plan.jobs.iter().enumerate();
        let used: BTreeSet<&Path> = jobs
            .filter(|(id, _)| ran(*id))
            .flat_map(|(_, job)| job.files.iter().map(|file| file.path.as_path()))
            .collect();
        for (job, mut added) in std::mem::take(&mut self.added) {
            if !ran(job) {
                added.leave(&used);
                // As where a job removes its files: those that resist stay.
                let _ = added.give_back();
            }
        }
    }
}

fn is_laid_out_first(job: &JobPlan) -> bool {
    let needs = |file: &FilePlan| file.kind == FileKind::Regular && file.need != Need::Nothing;
    job.layout.serialize && !job.layout.on_open && job.files.iter().any(needs)
}

/// Reports to the conductor what begins, and jobs whose files are unavailable.
/// It may have given up on us; then nobody asks.
fn lay_out_all(plan: &Plan, stop: &AtomicBool, outbox: &Sender<RunMessage>) -> Vec<(JobId, Added)> {
    let mut all = Vec::new();
    for (id, job) in plan.jobs.iter().enumerate().filter(|(_, job)| is_laid_out_first(job)) {
        let missing = layout::missing(job);
        if missing.files > 0 {
            let _ = outbox.send(RunMessage::LayingOut(id, missing));
        }
        match layout::lay_out(job, &|| stop.load(Ordering::Relaxed)) {
            Ok(added) if job.end.unlink => all.push((id, added)),
            Ok(_) => {}
            Err(error) => {
                let result = worker::failed_to_start(error.into());
                let _ = outbox.send(RunMessage::Finished(id, Box::new(result)));
            }
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    all
}
