//! nice(2), ioprio_set(2), sched_setscheduler(2).
#![allow(unsafe_code)]

use std::io;

/// On Linux each thread has its own nice value, and this sets that.
pub(crate) fn add_nice(increment: i32) -> io::Result<i32> {
    Ok(rustix::process::nice(increment)?)
}

pub(crate) fn set_io_priority(value: u16) -> io::Result<()> {
    const IOPRIO_WHO_PROCESS: libc::c_int = 1;
    const CALLING_THREAD: libc::c_int = 0;
    // SAFETY: three numbers go in, one comes out; no memory is touched.
    let result = unsafe {
        libc::syscall(
            libc::SYS_ioprio_set,
            IOPRIO_WHO_PROCESS,
            CALLING_THREAD,
            libc::c_int::from(value),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(crate) fn run_only_when_idle() -> io::Result<()> {
    const CALLING_THREAD: libc::c_int = 0;
    // SAFETY: all zeroes are a `sched_param`: plain numbers, one of them that
    // counts, or several in musl.
    let none: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a `sched_param` that outlives the call, which
    // only reads it. (The system call itself: musl's function is not made.)
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            CALLING_THREAD,
            libc::SCHED_IDLE,
            std::ptr::from_ref(&none),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
