//! FreeBSD: O_DIRECT, posix_fadvise(2), and trims by GEOM.
#![allow(unsafe_code)]

pub(crate) use super::bsd::{
    DEFAULT_ENGINE, ELSEWHERE, ENGINES, HUGE_PAGES, external, open_to_sync, set_lifetime, settings,
    statx, sync_file_system, sync_range,
};

use super::bsd;
use super::unix::{borrow, errno};
use crate::platform::RawFile;
use crate::{FileSetup, FsyncCall, Hint, Io};
use iosonde_base::Errno;
use rustix::fs::{Advice, OFlags};
use std::fs::File;
use std::num::NonZeroU64;

/// fsync(2) ends with a flush of the drive's cache, where the file system sends one (ZFS, UFS with a journal).
pub(crate) const FSYNC: FsyncCall = FsyncCall { name: "fsync(2)", empties_drive_cache: true };

/// Open a file as the plan says: what failed, and what that may mean.
pub(crate) fn open(setup: &FileSetup) -> Result<File, (Errno, Option<&'static str>)> {
    let mut flags = bsd::flags(setup.mode, setup.block_device);
    flags.set(OFlags::DIRECT, setup.mode.direct);
    bsd::open_with(&setup.path, flags).map_err(|errno| {
        let no_direct = setup.mode.direct && errno == Errno::EINVAL;
        (errno, no_direct.then_some("the file system may not take O_DIRECT; try direct=0"))
    })
}

/// Drop the job's range of a file from the page cache; devices have none.
pub(crate) fn drop_cached(file: &File, setup: &FileSetup) -> Result<(), Errno> {
    if setup.block_device {
        return Ok(());
    }
    let len = NonZeroU64::new(setup.bytes);
    match rustix::fs::fadvise(file, setup.offset, len, Advice::DontNeed).map_err(errno) {
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
    let _ = rustix::fs::fadvise(file, setup.offset, NonZeroU64::new(setup.bytes), advice);
}

/// fdatasync(2).
pub(crate) fn fdatasync(file: RawFile) -> Result<(), Errno> {
    // SAFETY: the table of files keeps the descriptor open while the job's loop runs.
    rustix::fs::fdatasync(unsafe { borrow(file) }).map_err(errno)
}

/// DIOCGDELETE of <sys/disk.h>: takes two off_t, start and length in bytes.
const DIOCGDELETE: libc::c_ulong = 0x8010_6488;

/// Discard the range of `io` on its device.
pub(crate) fn discard(io: &Io) -> Result<u32, Errno> {
    let range = [io.offset as libc::off_t, libc::off_t::from(io.len)];
    // SAFETY: the request reads two off_t through the pointer, and `range` lives until the call
    // returns; the job's table of files keeps the descriptor open.
    let result = unsafe { libc::ioctl(io.fd, DIOCGDELETE, range.as_ptr()) };
    if result == 0 { Ok(io.len) } else { Err(Errno::last()) }
}
