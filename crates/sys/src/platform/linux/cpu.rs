//! sched_setaffinity(2).

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

pub(crate) fn allowed_cpus() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    // The set's size is a small constant, so the numbers fit.
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

pub(crate) fn pin_to_cpus(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        // `set` would panic past its end.
        match usize::try_from(cpu) {
            Ok(cpu) if cpu < CpuSet::MAX_CPU => set.set(cpu),
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    Ok(sched_setaffinity(None, &set)?)
}
