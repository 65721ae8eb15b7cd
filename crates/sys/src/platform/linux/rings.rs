//! Trying io_uring_setup(2) and io_setup(2), and what forbids them.
#![allow(unsafe_code)]

use std::io;

pub(crate) fn try_io_uring() -> io::Result<()> {
    let mut parameters = rustix::io_uring::io_uring_params::default();
    // SAFETY: the parameters are whole and zeroed, so they name no descriptor
    // and no memory; the ring that comes back is never mapped or used.
    let ring = unsafe { rustix::io_uring::io_uring_setup(1, &mut parameters) }?;
    drop(ring);
    Ok(())
}

pub(crate) fn try_libaio() -> io::Result<()> {
    let mut context: libc::c_ulong = 0;
    // SAFETY: io_setup stores one context handle, an unsigned long, where the
    // second argument points, which must hold zero, and does.
    if unsafe { libc::syscall(libc::SYS_io_setup, 1 as libc::c_long, &raw mut context) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the context was just made, has no requests, and is not used again.
    unsafe { libc::syscall(libc::SYS_io_destroy, context) };
    Ok(())
}

/// The sysctl `kernel.io_uring_disabled`; `None` before Linux 6.6.
pub(crate) fn io_uring_disabled() -> Option<u32> {
    std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").ok()?.trim().parse().ok()
}

/// Whether a seccomp filter looks at this process's system calls.
pub(crate) fn is_filtered() -> bool {
    const FILTER_MODE: &str = "2";
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() == FILTER_MODE)
}
