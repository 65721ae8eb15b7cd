//! FreeBSD: O_DIRECT, posix_fadvise(2), and trims by GEOM.
#![allow(unsafe_code)]

pub(crate) use super::bsd::{
    DEFAULT_ENGINE, ELSEWHERE, ENGINES, HUGE_PAGES, external, open_to_sync, set_lifetime, settings,
    statx, sync_file_system, sync_range,
};
pub(crate) use super::posix::{advise, fdatasync};

use super::{bsd, posix};
use crate::{FileSetup, FsyncCall, Io};
use iosonde_base::Errno;
use rustix::fs::OFlags;
use std::fs::File;

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
    posix::drop_pages(file, setup)
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
