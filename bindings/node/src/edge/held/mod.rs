//! A descriptor of the caller's, kept open until a task is done with it.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix::hold;
#[cfg(windows)]
use windows::hold;

/// The caller's open file.
pub(crate) struct Held(Kind);

enum Kind {
    /// A second handle of it: a close meanwhile does not let the task meet
    /// whatever file takes the number next.
    Own(File),
    /// The caller's own, where no second one is to be had.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows does not run out of handles"))]
    Lent(ManuallyDrop<File>),
}

impl Held {
    /// # Errors
    /// If `fd` is not open (`EBADF`).
    pub(crate) fn of(fd: u32) -> io::Result<Held> {
        hold(fd).map(Held)
    }

    /// The file itself.
    pub(crate) fn file(&self) -> &File {
        match &self.0 {
            Kind::Own(file) => file,
            Kind::Lent(file) => file,
        }
    }
}
