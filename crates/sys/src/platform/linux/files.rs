//! What Linux has for files and others have not.

use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use crate::files::BorrowedHandle;
use crate::platform::{takes_no_new_file, unnamed_by_name};

/// Disks are block devices.
pub(crate) fn is_disk_at(_: &Path) -> bool {
    false
}

/// As [`is_disk_at`].
pub(crate) fn is_disk(_: &File) -> bool {
    false
}

/// A disk for ourselves alone: neither mounted nor part of something.
pub(crate) fn open_alone(path: &Path) -> io::Result<Option<File>> {
    let opened = iosonde_direct::OpenOptions::new().read(true).exclusive(true).open(path);
    opened.map(Some).map_err(|error| error.source)
}

pub(crate) fn reserve(file: &File, offset: u64, bytes: u64, grow: bool) -> io::Result<()> {
    let flags = if grow { FallocateFlags::empty() } else { FallocateFlags::KEEP_SIZE };
    Ok(rustix::fs::fallocate(file, flags, offset, bytes)?)
}

/// Make a range of zeroes.
pub(crate) fn zero_range(file: BorrowedHandle<'_>, offset: u64, bytes: u64) -> io::Result<()> {
    Ok(rustix::fs::fallocate(file, FallocateFlags::ZERO_RANGE, offset, bytes)?)
}

pub(crate) fn sync_file_system(file: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

/// A file without a name, to be written; `None` where the file system has none.
pub(crate) fn open_unnamed(folder: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)) {
        Ok(unnamed) => Ok(Some(File::from(unnamed))),
        Err(error) if has_no_unnamed_files(error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file system that makes files by name may still fail so for one without a name.
fn has_no_unnamed_files(error: Errno) -> bool {
    // Before Linux 3.11, and where a file system has none.
    matches!(error, Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL)
        || takes_no_new_file(&error.into())
}

/// Give a file without a name this one: link(2) replaces nothing.
pub(crate) fn link_unnamed(file: &File, path: &Path) -> io::Result<()> {
    // The thread's own: others may have tables of descriptors of their own.
    let unnamed = format!("/proc/thread-self/fd/{}", file.as_raw_fd());
    let linked = rustix::fs::linkat(CWD, &unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW);
    // Without /proc; root may do it so.
    Ok(linked.or_else(|_| rustix::fs::linkat(file, "", CWD, path, AtFlags::EMPTY_PATH))?)
}

pub(crate) fn unnamed(folder: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    match rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(File::from(file)),
        Err(error) if has_no_unnamed_files(error) => unnamed_by_name(folder),
        Err(error) => Err(error.into()),
    }
}

/// From statfs(2): <linux/magic.h>.
const OVERLAYFS: u64 = 0x794c_7630;
/// tmpfs, ramfs, hugetlbfs.
const OF_MEMORY: [u64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];

pub(crate) fn is_overlaid(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|status| status.f_type as u64 == OVERLAYFS)
}

pub(crate) fn is_of_memory(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|status| OF_MEMORY.contains(&(status.f_type as u64)))
}

pub(crate) fn advise_unneeded(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    let bytes = std::num::NonZeroU64::new(bytes);
    Ok(rustix::fs::fadvise(file, offset, bytes, rustix::fs::Advice::DontNeed)?)
}

/// By its descriptor, if /proc is there.
pub(crate) fn path_of(file: &File) -> Option<PathBuf> {
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    path.exists().then_some(path)
}
