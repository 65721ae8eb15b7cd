//! The system calls that make written data durable.
#![allow(unsafe_code)]

use crate::SyncRangeFlags;
use crate::retries::uninterrupted;
use iosonde_base::{Errno, Op, Planned};
use std::os::fd::{BorrowedFd, RawFd};

/// fsync(2), fdatasync(2) or sync_file_range(2), as `entry` asks.
pub(crate) fn sync(entry: &Planned, fd: RawFd, range: SyncRangeFlags) -> Result<(), Errno> {
    // SAFETY: the table of files keeps the descriptor open while the job's
    // loop runs, and this borrow ends with the function.
    let file = unsafe { BorrowedFd::borrow_raw(fd) };
    uninterrupted(|| match entry.op {
        Op::Sync => rustix::fs::fsync(file).map_err(errno),
        Op::DataSync => rustix::fs::fdatasync(file).map_err(errno),
        _ => sync_range(fd, entry.offset, entry.len, range),
    })
}

fn sync_range(fd: RawFd, offset: u64, len: u32, flags: SyncRangeFlags) -> Result<(), Errno> {
    // SAFETY: the call takes numbers only.
    let result = unsafe { libc::sync_file_range(fd, offset as i64, i64::from(len), flags.0) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().into()) }
}

/// The number of a rustix error.
pub(crate) fn errno(error: rustix::io::Errno) -> Errno {
    Errno(error.raw_os_error())
}
