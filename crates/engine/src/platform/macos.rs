//! macOS: F_NOCACHE, and an fsync(2) that does not empty the drive's cache.
#![allow(unsafe_code)]

pub(crate) use super::bsd::{
    DEFAULT_ENGINE, ELSEWHERE, ENGINES, HUGE_PAGES, external, open_to_sync, set_lifetime, settings,
    statx, sync_file_system, sync_range,
};

use super::{bsd, unix};
use crate::platform::RawFile;
use crate::{FileSetup, FsyncCall, Hint, Io};
use iosonde_base::Errno;
use std::fs::File;
use std::os::fd::AsRawFd;

/// Only F_FULLFSYNC asks the drive to empty its cache (fsync(2)).
pub(crate) const FSYNC: FsyncCall = FsyncCall { name: "fsync(2)", empties_drive_cache: false };

/// Open a file as the plan says: what failed, and what that may mean.
pub(crate) fn open(setup: &FileSetup) -> Result<File, (Errno, Option<&'static str>)> {
    let flags = bsd::flags(setup.mode, setup.block_device);
    let file = bsd::open_with(&setup.path, flags).map_err(|errno| (errno, None))?;
    if setup.mode.direct {
        let words = "the file system may not take F_NOCACHE; try direct=0";
        control(&file, libc::F_NOCACHE, 1).map_err(|errno| (errno, Some(words)))?;
    }
    Ok(file)
}

/// fcntl(2) with a number.
fn control(file: &File, command: libc::c_int, value: libc::c_int) -> Result<(), Errno> {
    // SAFETY: these commands take a number, and the descriptor is open while `file` is borrowed.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, value) } {
        -1 => Err(Errno::last()),
        _ => Ok(()),
    }
}

/// Drop a file's clean pages from the cache: msync(2) MS_INVALIDATE over a mapping of the job's range, as there is no
/// posix_fadvise(2). Devices have none.
pub(crate) fn drop_cached(file: &File, setup: &FileSetup) -> Result<(), Errno> {
    let about = file.metadata()?;
    if setup.block_device || !about.is_file() {
        return Ok(());
    }
    let start = setup.offset & !(unix::map_alignment() - 1);
    let end = about.len().min(setup.offset.saturating_add(setup.bytes));
    let Ok(bytes) = usize::try_from(end.saturating_sub(start)) else { return Ok(()) };
    if bytes == 0 {
        return Ok(());
    }
    // What is not written yet would stay.
    rustix::fs::fsync(file).map_err(unix::errno)?;
    let mapping = unix::Mapping::new(unix::raw(file), (start, bytes), false, None, false)?;
    // SAFETY: the range is mapped for as long as `mapping` exists.
    let dropped = unsafe { libc::msync(mapping.memory.cast(), bytes, libc::MS_INVALIDATE) };
    if dropped == 0 { Ok(()) } else { Err(Errno::last()) }
}

/// Advise the kernel of the order of access: it reads ahead, or not.
pub(crate) fn advise(file: &File, _: &FileSetup, hint: Hint) {
    let ahead = match hint {
        Hint::Sequential => 1,
        Hint::Random => 0,
        Hint::NoReuse => return,
    };
    // Advice may be declined; nothing depends on it.
    let _ = control(file, libc::F_RDAHEAD, ahead);
}

/// fsync(2): there is no fdatasync(2).
pub(crate) fn fdatasync(file: RawFile) -> Result<(), Errno> {
    unix::fsync(file)
}

/// `dk_extent_t` and `dk_unmap_t` of <sys/disk.h>.
#[repr(C)]
struct Extent {
    offset: u64,
    length: u64,
}

#[repr(C)]
struct Unmap {
    extents: *const Extent,
    count: u32,
    options: u32,
}

/// DKIOCUNMAP of <sys/disk.h>: takes a `dk_unmap_t`.
const DKIOCUNMAP: libc::c_ulong = 0x8010_641f;

/// Discard the range of `io` on its device.
pub(crate) fn discard(io: &Io) -> Result<u32, Errno> {
    let extent = Extent { offset: io.offset, length: io.len.into() };
    let unmap = Unmap { extents: &raw const extent, count: 1, options: 0 };
    // SAFETY: the request reads one structure and one extent, which live until the call returns;
    // the job's table of files keeps the descriptor open.
    let result = unsafe { libc::ioctl(io.fd, DKIOCUNMAP, &raw const unmap) };
    if result == 0 { Ok(io.len) } else { Err(Errno::last()) }
}
