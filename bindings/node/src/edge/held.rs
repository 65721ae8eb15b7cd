//! A descriptor of the caller's, kept open until a task is done with it.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::{BorrowedFd, FromRawFd, RawFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

/// The caller's open file.
pub(crate) struct Held(Kind);

enum Kind {
    /// A second descriptor for it: a close meanwhile does not let the task meet
    /// whatever file takes the number next.
    Own(File),
    /// The caller's own, where no second one is to be had.
    Lent(ManuallyDrop<File>),
}

impl Held {
    /// # Errors
    /// If `fd` is not open.
    pub(crate) fn of(fd: u32) -> Result<Held, Errno> {
        // Never -1, which is no descriptor at all.
        let fd = RawFd::try_from(fd).map_err(|_| Errno::BADF)?;
        // SAFETY: the number is only handed to the kernel, in this one call,
        // which answers EBADF if it is not open.
        match fcntl_dupfd_cloexec(unsafe { BorrowedFd::borrow_raw(fd) }, 0) {
            Ok(second) => Ok(Held(Kind::Own(File::from(second)))),
            Err(Errno::MFILE | Errno::NFILE) => {
                // SAFETY: open just now, and never closed by us. Until the task
                // ends the caller keeps it open, as the original has always
                // asked; if not, the kernel answers EBADF or for another file.
                let file = unsafe { File::from_raw_fd(fd) };
                Ok(Held(Kind::Lent(ManuallyDrop::new(file))))
            }
            Err(errno) => Err(errno),
        }
    }

    /// The file itself.
    pub(crate) fn file(&self) -> &File {
        match &self.0 {
            Kind::Own(file) => file,
            Kind::Lent(file) => file,
        }
    }
}
