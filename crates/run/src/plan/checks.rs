//! Checks of a complete plan: what cannot go well, before
//! anything is opened.

use super::Planner;
use crate::job::{FileKind, JobPlan};
use iosonde_base::Dir;
use iosonde_options::Diagnostic;

impl Planner<'_> {
    /// Every check, over all jobs.
    pub(super) fn check(&mut self) {
        let mut found: Vec<Diagnostic> = self.plan.jobs.iter().filter_map(trims_a_file).collect();
        found.extend(self.plan.jobs.iter().filter_map(paces_no_io));
        found.extend(self.plan.jobs.iter().filter_map(preconditions_too_little));
        found.extend(too_few_processors(&self.plan.jobs, iosonde_sys::cpu::allowed_count()));
        found.extend(super::zones::check_all(&self.plan.jobs));
        found.into_iter().for_each(|diagnostic| self.note(diagnostic));
    }
}

/// Trims are for block devices: BLKDISCARD knows nothing else.
fn trims_a_file(job: &JobPlan) -> Option<Diagnostic> {
    // Those that punch holes in files, or do nothing to their bytes at all.
    let caps = &job.engine.caps;
    if caps.changes || caps.by_name || caps.trims_files {
        return None;
    }
    let file = job.files.iter().find(|file| file.kind == FileKind::Regular)?;
    job.dirs[Dir::Trim].then(|| {
        Diagnostic::error(format!(
            "job {}: {} is no block device, and only those can be trimmed",
            job.name,
            file.path.display()
        ))
        .help("name a device, for example a loop device over the file (losetup)")
    })
}

/// `sprandom` of several files, or of fewer blocks than it has regions.
fn preconditions_too_little(job: &JobPlan) -> Option<Diagnostic> {
    let refused = job.source.check_sprandom().err()?;
    Some(Diagnostic::error(format!("job {}: {refused}", job.name)))
}

/// Engines that burn time or run a program have no I/Os to hold back; fio
/// ignores a pace there without a word.
fn paces_no_io(job: &JobPlan) -> Option<Diagnostic> {
    let pace = &job.pace;
    let is_paced = job.source.pace.is_set()
        || pace.pause.is_some()
        || pace.flow.is_some()
        || pace.target.is_some()
        || pace.max_latency.0.iter().any(|bound| bound.0 > 0);
    (is_paced && job.engine.caps.no_io).then(|| {
        Diagnostic::note(format!(
            "job {}: ioengine={} does no I/O that a rate, a pause, a flow or a bound on latency \
             could hold back",
            job.name, job.engine.name
        ))
    })
}

/// A kernel thread that polls takes a processor besides the job's.
fn too_few_processors(jobs: &[JobPlan], processors: usize) -> Option<Diagnostic> {
    let polling = jobs.iter().filter(|job| job.settings.kernel_thread_polls()).count();
    (polling > 0 && polling * 2 > processors).then(|| {
        Diagnostic::warning(format!(
            "sqthread_poll: {polling} jobs and as many kernel threads share {processors} \
             processors: they take turns, and latencies show it"
        ))
        .help("use fewer jobs, or leave sqthread_poll out")
    })
}
