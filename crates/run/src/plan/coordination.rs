//! From a job's options to its life among others.

use super::Planner;
use crate::job::LockMode;
use crate::job::SteadyPlan;
use crate::job::{CgroupPlan, LifePlan};
use iosonde_base::Nanos;
use iosonde_options::{Diagnostic, Setting};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::values::{LockFile, NodeList, PolicyKind};
use iosonde_sys::cpu::CpuList;
use iosonde_sys::numa::{MemoryPolicy, Nodes};
use rustix::time::ClockId;

impl Planner<'_> {
    /// Everything about a job but its I/O.
    pub(super) fn life(&mut self, job: &ParsedJob) -> Result<LifePlan, Diagnostic> {
        let spec = &job.spec;
        let options = &spec.job;
        let exitall = self.jobs.iter().any(|job| *job.spec.job.exitall.get());
        let what = *options.exit_what.get();
        Ok(LifePlan {
            waits_for: self.waits_for(job)?,
            end_ends: exitall.then_some(what),
            failure_ends: spec.errors.exitall_on_error.get().then_some(what),
            before: options.exec_prerun.get().clone(),
            after: options.exec_postrun.get().clone(),
            comm: options.comm.get().clone(),
            user: *spec.cpu.uid.get(),
            group: *spec.cpu.gid.get(),
            memory: memory(spec)?,
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
            ramp_bytes: spec.time.ramp_size.get().0,
            start_clock: start_clock(spec)?,
            steady: self.steady(job)?,
            tells_errors: *spec.errors.error_dump.get(),
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

    fn steady(&self, job: &ParsedJob) -> Result<Option<SteadyPlan>, Diagnostic> {
        let asked = steady(&job.spec)?;
        // Jobs of a reporting group are judged together, so they agree.
        let at = self.jobs.iter().position(|other| std::ptr::eq(other, job)).unwrap_or(0);
        let opens =
            |job: &ParsedJob| *job.spec.job.stonewall.get() || *job.spec.job.new_group.get();
        let first = (0..=at).rev().find(|&at| at == 0 || opens(&self.jobs[at])).unwrap_or(0);
        if (first..at).any(|other| !matches!(steady(&self.jobs[other].spec), Ok(s) if s == asked)) {
            let words = "steadystate options must be consistent within reporting groups";
            let said = about(&job.spec.steady.steadystate, "steadystate", words.to_owned());
            return Err(said.help("give all jobs of the group the same, or a job new_group"));
        }
        Ok(asked)
    }
}

/// `steadystate` and what goes with it; `None` where it is not asked for, or
/// has no duration.
fn steady(spec: &JobSpec) -> Result<Option<SteadyPlan>, Diagnostic> {
    let options = &spec.steady;
    let duration = *options.steadystate_duration.get();
    let Some(goal) = *options.steadystate.get() else { return Ok(None) };
    if duration == Nanos(0) {
        return Ok(None);
    }
    let interval = *options.steadystate_check_interval.get();
    let setting = &options.steadystate_check_interval;
    if interval == Nanos(0) {
        return Err(about(setting, "steadystate_check_interval", "must not be 0".to_owned()));
    }
    if !duration.0.is_multiple_of(interval.0) {
        let words = "steadystate_duration must be a multiple of steadystate_check_interval";
        return Err(about(setting, "steadystate_check_interval", words.to_owned()));
    }
    Ok(Some(SteadyPlan { goal, duration, ramp: *options.steadystate_ramp_time.get(), interval }))
}

fn about<T>(setting: &Setting<T>, name: &str, words: String) -> Diagnostic {
    Diagnostic::error(words).about(name, setting.origin())
}

/// `numa_mem_policy`.
fn memory(spec: &JobSpec) -> Result<Option<MemoryPolicy>, Diagnostic> {
    let setting = &spec.cpu.numa_mem_policy;
    let Some(asked) = setting.get() else { return Ok(None) };
    let numbers = || numbers(&asked.nodes, setting, "numa_mem_policy");
    Ok(Some(match asked.kind {
        PolicyKind::Default => MemoryPolicy::Default,
        PolicyKind::Local => MemoryPolicy::Local,
        PolicyKind::Prefer => MemoryPolicy::Preferred(numbers()?.first().copied().unwrap_or(0)),
        PolicyKind::Bind => MemoryPolicy::Bind(numbers()?),
        PolicyKind::Interleave => MemoryPolicy::Interleave(numbers()?),
    }))
}

/// The processors of `numa_cpu_nodes`, of those in `listed` if there are any.
pub(super) fn node_processors(
    spec: &JobSpec,
    listed: Option<CpuList>,
) -> Result<Option<CpuList>, Diagnostic> {
    const NAME: &str = "numa_cpu_nodes";
    let setting = &spec.cpu.numa_cpu_nodes;
    let Some(nodes) = setting.get() else { return Ok(listed) };
    let numbers = numbers(nodes, setting, NAME)?;
    let found = Nodes::here().processors(&numbers).map_err(|error| {
        about(setting, NAME, format!("cannot tell the processors of nodes {numbers:?}: {error}"))
    })?;
    let allowed = |&cpu: &u32| listed.as_ref().is_none_or(|list| list.as_slice().contains(&cpu));
    let found = found.map(|list| list.as_slice().iter().copied().filter(allowed).collect());
    let none = || about(setting, NAME, "these nodes have no processor the job may use".to_owned());
    CpuList::from_numbers(found.unwrap_or_default()).map(Some).map_err(|_| none())
}

/// Nodes by number, all of which the machine has.
fn numbers<T>(asked: &NodeList, setting: &Setting<T>, name: &str) -> Result<Vec<u32>, Diagnostic> {
    let online = Nodes::here().online().map_err(|error| {
        about(setting, name, format!("this kernel knows no NUMA nodes: {error}"))
    })?;
    let NodeList::Listed(listed) = asked else { return Ok(online) };
    match listed.0.iter().find(|node| !online.contains(node)) {
        Some(node) => {
            let words = format!("there is no node {node}; this machine has {online:?}");
            Err(about(setting, name, words))
        }
        None => Ok(listed.0.clone()),
    }
}

/// `job_start_clock_id`.
fn start_clock(spec: &JobSpec) -> Result<ClockId, Diagnostic> {
    let setting = &spec.time.job_start_clock_id;
    let number = libc::clockid_t::try_from(*setting.get()).ok();
    number.and_then(|number| ClockId::try_from(number).ok()).ok_or_else(|| {
        let words = format!("there is no clock {} (clock_gettime(2))", setting.get());
        about(setting, "job_start_clock_id", words)
    })
}

/// How long a clone waits before it starts: of a range, what it draws.
pub(super) fn delay(spec: &JobSpec, number: u32) -> Nanos {
    let asked = spec.time.startdelay.get();
    if asked.low == asked.high {
        return asked.low;
    }
    let range = (asked.low.0 / 1000, asked.high.0 / 1000);
    Nanos(1000 * iosonde_workload::start_delay_us(*spec.random.randseed.get(), number, range))
}
