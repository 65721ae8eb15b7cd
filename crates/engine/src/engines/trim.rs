//! Discarding a range: what every kernel engine does for a trim.
#![allow(unsafe_code)]

use crate::Io;
use iosonde_base::Errno;

/// BLKDISCARD, from linux/fs.h: takes two u64, start and length in bytes.
const BLKDISCARD: libc::c_ulong = 0x1277;

/// Discard the range of `io` on its block device.
pub(crate) fn discard(io: &Io) -> Result<u32, Errno> {
    let range = [io.offset, u64::from(io.len)];
    // SAFETY: the request reads two u64 through the pointer, and `range` lives
    // until the call returns; the job's table of files keeps the descriptor open.
    let result = unsafe { libc::ioctl(io.fd, BLKDISCARD, range.as_ptr()) };
    if result == 0 { Ok(io.len) } else { Err(std::io::Error::last_os_error().into()) }
}
