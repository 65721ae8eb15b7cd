//! posix_fadvise(2) and fdatasync(2), which macOS does not have.
#![allow(unsafe_code)]

use super::unix::{borrow, errno};
use crate::platform::RawFile;
use crate::{FileSetup, Hint};
use iosonde_base::Errno;
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::num::NonZeroU64;

/// Drop the job's range of a file from the page cache.
pub(crate) fn drop_pages(file: &File, setup: &FileSetup) -> Result<(), Errno> {
    let len = NonZeroU64::new(setup.bytes);
    match fadvise(file, setup.offset, len, Advice::DontNeed).map_err(errno) {
        // Pipes and character devices have no page cache to drop.
        Err(Errno::ESPIPE | Errno::EINVAL | Errno::ENODEV) => Ok(()),
        result => result,
    }
}

/// Advise the kernel of the order in which the job's range is accessed.
pub(crate) fn advise(file: &File, setup: &FileSetup, hint: Hint) {
    let advice = match hint {
        Hint::Sequential => Advice::Sequential,
        Hint::Random => Advice::Random,
        Hint::NoReuse => Advice::NoReuse,
    };
    // Advice may be declined; nothing depends on it.
    let _ = fadvise(file, setup.offset, NonZeroU64::new(setup.bytes), advice);
}

/// fdatasync(2).
pub(crate) fn fdatasync(file: RawFile) -> Result<(), Errno> {
    // SAFETY: the table of files keeps the descriptor open while the job's loop runs.
    rustix::fs::fdatasync(unsafe { borrow(file) }).map_err(errno)
}
