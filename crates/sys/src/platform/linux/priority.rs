//! nice(2), ioprio_set(2).
#![allow(unsafe_code)]

use std::io;

/// On Linux each thread has a nice value of its own, and this sets that.
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
