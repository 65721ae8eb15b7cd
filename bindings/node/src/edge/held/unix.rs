//! Descriptors where they are the system's own.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{BorrowedFd, FromRawFd, RawFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::Kind;

pub(super) fn hold(fd: u32) -> io::Result<Kind> {
    // Never -1, which is no descriptor at all.
    let fd = RawFd::try_from(fd).map_err(|_| Errno::BADF)?;
    // SAFETY: the number is only handed to the kernel, in this one call, which
    // answers EBADF if it is not open.
    match fcntl_dupfd_cloexec(unsafe { BorrowedFd::borrow_raw(fd) }, 0) {
        Ok(second) => Ok(Kind::Own(File::from(second))),
        Err(Errno::MFILE | Errno::NFILE) => {
            // SAFETY: open just now, and never closed by us. Until the task
            // ends the caller keeps it open, as the original has always asked;
            // if not, the kernel answers EBADF or for another file.
            let file = unsafe { File::from_raw_fd(fd) };
            Ok(Kind::Lent(ManuallyDrop::new(file)))
        }
        Err(errno) => Err(errno.into()),
    }
}
