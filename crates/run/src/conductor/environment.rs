//! Changes to the system for a wave of jobs, undone afterwards:
//! control groups, schedulers of disks.

use crate::job::{CgroupPlan, FileKind, JobError, JobId, JobPlan, Plan};
use iosonde_sys::cgroup::{ControlGroup, Hierarchy, Stay};
use iosonde_sys::scheduler::Switched;
use iosonde_sys::stack::Stack;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Changes that last as long as this.
#[derive(Debug, Default)]
pub(crate) struct WaveEnvironment {
    /// By disk, the scheduler that was asked for.
    asked: BTreeMap<String, String>,
    switched: Vec<Switched>,
    /// The whole process in a group of version 2: left before the groups go.
    stay: Option<(String, Stay)>,
    groups: BTreeMap<String, Arc<ControlGroup>>,
}

impl WaveEnvironment {
    /// Make the changes that the jobs ask for. A job whose change cannot be
    /// made is returned with its error.
    pub fn of(plan: &Plan, jobs: &[JobId]) -> (WaveEnvironment, Vec<(JobId, JobError)>) {
        let mut environment = WaveEnvironment::default();
        let mut failed = Vec::new();
        for &id in jobs {
            let job = &plan.jobs[id];
            let done =
                environment.scheduler(job).and_then(|()| environment.cgroup(plan, jobs, job));
            if let Err(error) = done {
                failed.push((id, error));
            }
        }
        (environment, failed)
    }

    /// The group that a job's thread has to enter by itself.
    pub fn group(&self, job: &JobPlan) -> Option<Arc<ControlGroup>> {
        if self.stay.is_some() {
            return None;
        }
        self.groups.get(&job.coordination.cgroup.as_ref()?.name).cloned()
    }

    /// Threads of jobs are in groups; they must be gone before the groups go.
    pub fn holds_threads(&self) -> bool {
        self.stay.is_none() && !self.groups.is_empty()
    }

    fn scheduler(&mut self, job: &JobPlan) -> Result<(), JobError> {
        let Some(wanted) = &job.coordination.scheduler else { return Ok(()) };
        let fail = |error: io::Error| JobError::system("set ioscheduler", &error);
        let files = job.files.iter();
        // Pipes and character devices have none, as fio has it.
        for file in files.filter(|f| matches!(f.kind, FileKind::Regular | FileKind::Block)) {
            for disk in disks_under(&file.path) {
                match self.asked.get(&disk) {
                    Some(other) if other == wanted => continue,
                    Some(other) => {
                        let words = format!("another job gives {disk} the scheduler {other}");
                        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, words)));
                    }
                    None => {}
                }
                self.switched.extend(Switched::to(&disk, wanted).map_err(fail)?);
                self.asked.insert(disk, wanted.clone());
            }
        }
        Ok(())
    }

    fn cgroup(&mut self, plan: &Plan, wave: &[JobId], job: &JobPlan) -> Result<(), JobError> {
        let Some(asked) = &job.coordination.cgroup else { return Ok(()) };
        let fail = |error: io::Error| JobError::system("set cgroup", &error);
        let unsupported = |words: String| fail(io::Error::new(io::ErrorKind::Unsupported, words));
        let hierarchy = Hierarchy::of_this_machine().ok_or_else(|| {
            unsupported("no hierarchy of control groups is mounted: mount cgroup2".to_owned())
        })?;
        let same = |&id: &JobId| {
            plan.jobs[id].coordination.cgroup.as_ref().is_some_and(|other| other.name == asked.name)
        };
        if !hierarchy.takes_threads() && !wave.iter().all(same) {
            let words = "version 2 moves whole processes, and jobs are threads of one: \
                give all jobs that run together the same cgroup";
            return Err(unsupported(words.to_owned()));
        }
        if !self.groups.contains_key(&asked.name) {
            let group = ControlGroup::open(&hierarchy, &asked.name, asked.stays).map_err(fail)?;
            self.groups.insert(asked.name.clone(), Arc::new(group));
        }
        let group = self.groups[&asked.name].clone();
        let CgroupPlan { name, weight, .. } = asked;
        if let Some(weight) = weight {
            let fail = |error: io::Error| JobError::system("set cgroup_weight", &error);
            group.set_weight(*weight).map_err(fail)?;
        }
        if !hierarchy.takes_threads() && self.stay.is_none() {
            self.stay = Some((name.clone(), group.enter().map_err(fail)?));
        }
        Ok(())
    }
}

/// Names of the whole disks right below a path.
fn disks_under(path: &Path) -> Vec<String> {
    let place = if path.exists() { path } else { path.parent().unwrap_or(path) };
    let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
    let Ok(stack) = Stack::under(place) else { return Vec::new() };
    stack.devices.iter().map(|layer| layer.disk().name.clone()).collect()
}
