//! Affinity and priority of threads. Processors past 64, which are in groups of their own, are not used.
#![allow(unsafe_code)]

use std::io;

use windows_sys::Win32::System::Threading as threading;

use super::done;

pub(crate) fn allowed_cpus() -> io::Result<Vec<u32>> {
    let (mut process, mut system) = (0, 0);
    // SAFETY: the call writes two masks, which live here; the handle of the process itself is always valid.
    done(unsafe {
        threading::GetProcessAffinityMask(
            threading::GetCurrentProcess(),
            &raw mut process,
            &raw mut system,
        )
    })?;
    Ok((0..usize::BITS).filter(|cpu| process >> cpu & 1 == 1).collect())
}

pub(crate) fn pin_to_cpus(cpus: &[u32]) -> io::Result<()> {
    let mut mask = 0_usize;
    for &cpu in cpus {
        mask |= 1_usize.checked_shl(cpu).ok_or(io::ErrorKind::InvalidInput)?;
    }
    // SAFETY: the call takes a number; the handle of the thread itself is always valid.
    match unsafe { threading::SetThreadAffinityMask(threading::GetCurrentThread(), mask) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Windows has seven steps where Unix has forty.
pub(crate) fn add_nice(increment: i32) -> io::Result<i32> {
    let priority = match increment {
        ..=-10 => threading::THREAD_PRIORITY_HIGHEST,
        -9..=-1 => threading::THREAD_PRIORITY_ABOVE_NORMAL,
        0 => threading::THREAD_PRIORITY_NORMAL,
        1..=9 => threading::THREAD_PRIORITY_BELOW_NORMAL,
        10.. => threading::THREAD_PRIORITY_LOWEST,
    };
    set_priority(priority)?;
    Ok(increment)
}

pub(crate) fn run_only_when_idle() -> io::Result<()> {
    set_priority(threading::THREAD_PRIORITY_IDLE)
}

fn set_priority(priority: threading::THREAD_PRIORITY) -> io::Result<()> {
    // SAFETY: the call takes a number; the handle of the thread itself is always valid.
    done(unsafe { threading::SetThreadPriority(threading::GetCurrentThread(), priority) })
}
