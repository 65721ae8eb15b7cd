//! What Linux, macOS and FreeBSD have in common.

use std::ffi::OsStr;
use std::fs::{File, FileType};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// libuv's numbers, which are the system's own.
pub(crate) const NO_MEMORY: i32 = libc::ENOMEM;
pub(crate) const NOT_BLOCK: i32 = libc::ENOTBLK;
pub(crate) const BUSY: i32 = libc::EAGAIN;
pub(crate) const INVALID: i32 = libc::EINVAL;

/// What `getBlockDevice` says of a descriptor that is not open.
pub(crate) const NOT_OPEN: &str = "fstat failed";

/// libuv's number for an error, if it has one.
pub(crate) fn number(error: &io::Error) -> Option<i32> {
    error.raw_os_error()
}

/// The path that these bytes are.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// A device of either kind, or the original's error that it is not a device.
pub(super) fn device_kind(file: &File) -> Result<FileType, &'static str> {
    let kind = file.metadata().map_err(|_| "fstat failed")?.file_type();
    if kind.is_block_device() || kind.is_char_device() {
        Ok(kind)
    } else {
        Err("fd is not a block or character device")
    }
}

/// `setFlock`.
pub(super) fn set_flock(file: io::Result<&File>, lock: bool) -> Result<(), &'static str> {
    let operation =
        if lock { FlockOperation::NonBlockingLockExclusive } else { FlockOperation::Unlock };
    let done = file.and_then(|file| Ok(flock(file, operation)?));
    done.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::WOULDBLOCK) => "EWOULDBLOCK, the file is already locked",
        Some(Errno::BADF) => "EBADF, fd is an invalid file descriptor",
        Some(Errno::INTR) => "EINTR, the call was interrupted by a signal",
        Some(Errno::INVAL) => "EINVAL, fd does not refer to a file",
        Some(Errno::NOTSUP) => "ENOTSUP, fd is not of the correct type",
        _ => "unable to obtain an exclusive lock",
    })
}
