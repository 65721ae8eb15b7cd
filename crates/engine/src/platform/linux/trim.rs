//! Discarding a range: what every kernel engine does for a trim.
#![allow(unsafe_code)]

use crate::Io;
use iosonde_base::Errno;

/// BLKDISCARD, from linux/fs.h: takes two u64, start and length in bytes.
const BLKDISCARD: libc::c_ulong = 0x1277;

/// Discard the range of `io` on its block device.
pub(crate) fn discard(io: &Io) -> Result<u32, Errno> {
    match discard_now(io) {
        // The device is held for the run (O_EXCL), and the kernel drops written
        // pages under nobody's hold but the caller's: they are written back first.
        Err(Errno::EBUSY) => write_back(io).and_then(|()| discard_now(io)),
        result => result,
    }
}

fn discard_now(io: &Io) -> Result<u32, Errno> {
    let range = [io.offset, u64::from(io.len)];
    // SAFETY: the request reads two u64 through the pointer, and `range` lives
    // until the call returns; the job's table of files keeps the descriptor open.
    let result = unsafe { libc::ioctl(io.fd, BLKDISCARD, range.as_ptr()) };
    if result == 0 { Ok(io.len) } else { Err(std::io::Error::last_os_error().into()) }
}

#[cold]
fn write_back(io: &Io) -> Result<(), Errno> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: the call takes numbers only.
    let result =
        unsafe { libc::sync_file_range(io.fd, io.offset as i64, i64::from(io.len), flags) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().into()) }
}
