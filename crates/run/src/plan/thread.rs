//! From a job's options to its thread: processors, priorities, NUMA nodes, user.

use super::refuse::about;
use crate::job::ThreadPlan;
use iosonde_options::{Diagnostic, Setting};
use iosonde_spec::JobSpec;
use iosonde_spec::values::{CpusAllowedPolicy, NodeList, PolicyKind};
use iosonde_sys::cpu::CpuList;
use iosonde_sys::numa::{MemoryPolicy, Nodes};
use iosonde_sys::priority::{IoClass, IoPriority};

/// Where and as whom the thread of one clone runs.
///
/// # Errors
/// Where a list names no processor, or a priority is out of range.
pub(super) fn thread(spec: &JobSpec, clone: u32) -> Result<ThreadPlan, Diagnostic> {
    let cpu = &spec.cpu;
    let listed = match (cpu.cpus_allowed.get(), *cpu.cpumask.get()) {
        (Some(cpus), _) => Some(CpuList::from_numbers(cpus.0.clone())),
        (None, Some(mask)) => Some(CpuList::from_mask(mask)),
        (None, None) => None,
    };
    let listed = listed.transpose().map_err(|error| {
        Diagnostic::error(error.to_string()).about("cpus_allowed", cpu.cpus_allowed.origin())
    })?;
    let listed = node_processors(spec, listed)?;
    let split = *cpu.cpus_allowed_policy.get() == CpusAllowedPolicy::Split;
    let cpus = match listed {
        Some(list) if split => CpuList::from_numbers(vec![list.turn(clone as usize)]).ok(),
        other => other,
    };
    Ok(ThreadPlan {
        name: spec.job.comm.get().clone(),
        cpus,
        nice: cpu.nice.is_set().then(|| *cpu.nice.get()),
        io_priority: io_priority(spec)?,
        memory: memory(spec)?,
        user: *spec.cpu.uid.get(),
        group: *spec.cpu.gid.get(),
    })
}

fn io_priority(spec: &JobSpec) -> Result<Option<IoPriority>, Diagnostic> {
    let cpu = &spec.cpu;
    let (level, class, hint) = (*cpu.prio.get(), *cpu.prioclass.get(), *cpu.priohint.get());
    if level.is_none() && class.is_none() && hint.is_none() {
        return Ok(None);
    }
    let wrong = || {
        Diagnostic::error("want prioclass 0 to 3, prio 0 to 7, priohint 0 to 1023")
            .about("prio", cpu.prio.origin())
    };
    // A level without a class is one of best effort, as ioprio_set(2) has it.
    let class = class.unwrap_or(if level.is_some() { 2 } else { 0 });
    let class = u8::try_from(class).ok().and_then(IoClass::from_number).ok_or_else(wrong)?;
    let level = u8::try_from(level.unwrap_or(0)).map_err(|_| wrong())?;
    let hint = u16::try_from(hint.unwrap_or(0)).map_err(|_| wrong())?;
    IoPriority::new(class, level, hint).ok_or_else(wrong).map(Some)
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
fn node_processors(spec: &JobSpec, listed: Option<CpuList>) -> Result<Option<CpuList>, Diagnostic> {
    const NAME: &str = "numa_cpu_nodes";
    let setting = &spec.cpu.numa_cpu_nodes;
    let Some(nodes) = setting.get() else { return Ok(listed) };
    let numbers = numbers(nodes, setting, NAME)?;
    let found = Nodes::here().processors(&numbers).map_err(|error| {
        about(setting, NAME, format!("cannot read the processors of nodes {numbers:?}: {error}"))
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
