//! From a job's options to what depends on other jobs, or changes the machine
//! around it.

use super::Planner;
use super::refuse::about;
use crate::job::{CgroupPlan, CoordinationPlan, LockMode};
use iosonde_options::Diagnostic;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::LockFile;

impl Planner<'_> {
    /// What depends on other jobs, or changes the machine around a job.
    pub(super) fn coordination(&self, job: &ParsedJob) -> Result<CoordinationPlan, Diagnostic> {
        let spec = &job.spec;
        let options = &spec.job;
        let exitall = self.jobs.iter().any(|job| *job.spec.job.exitall.get());
        let what = *options.exit_what.get();
        Ok(CoordinationPlan {
            waits_for: self.waits_for(job)?,
            end_ends: exitall.then_some(what),
            failure_ends: spec.errors.exitall_on_error.get().then_some(what),
            before: options.exec_prerun.get().clone(),
            after: options.exec_postrun.get().clone(),
            cgroup: spec.cpu.cgroup.get().clone().map(|name| CgroupPlan {
                name,
                weight: *spec.cpu.cgroup_weight.get(),
                stays: *spec.cpu.cgroup_nodelete.get(),
            }),
            scheduler: spec.files.ioscheduler.get().clone(),
            lock: match spec.files.lockfile.get() {
                LockFile::None => LockMode::None,
                LockFile::Exclusive => LockMode::Exclusive,
                LockFile::ReadWrite => LockMode::ReadWrite,
            },
        })
    }

    /// The section that a job waits for: one that comes before, and the only
    /// one of its name.
    fn waits_for(&self, job: &ParsedJob) -> Result<Option<usize>, Diagnostic> {
        let setting = &job.spec.job.wait_for;
        let Some(wanted) = setting.get() else { return Ok(None) };
        let refuse = |words: String| Err(about(setting, "wait_for", words));
        if *wanted == job.name {
            return refuse(format!("a job cannot wait for itself (wait_for={wanted})"));
        }
        let before = self.jobs.iter().take_while(|other| !std::ptr::eq(*other, job));
        let mut found = before.enumerate().filter(|(_, other)| other.name == *wanted);
        match (found.next(), found.next()) {
            (None, _) => refuse(format!("waitee job {wanted} unknown")),
            (Some((section, _)), None) => Ok(Some(section)),
            (Some(_), Some(_)) => refuse(format!(
                "multiple waitees {wanted} found; please avoid duplicates when using wait_for"
            )),
        }
    }
}
