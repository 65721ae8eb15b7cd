//! I/O where the file's position is: lseek(2), read(2), write(2).
#![allow(unsafe_code)]

use super::bytes;
use crate::Io;
use crate::platform::RawFile;
use iosonde_base::{Errno, Op};

/// The calls.
pub(crate) const SUMMARY: &str = "lseek(2), read(2), write(2)";
/// What the engine sync does with them.
pub(crate) const DOC: &str =
    "read(2) and write(2), after lseek(2) where the file's position is not the I/O's.";

/// Move the file's position to `offset`.
#[inline]
pub(crate) fn set(file: RawFile, offset: u64) -> Result<(), Errno> {
    // SAFETY: the call takes numbers only.
    match unsafe { libc::lseek(file, offset as i64, libc::SEEK_SET) } {
        ..0 => Err(Errno::last()),
        _ => Ok(()),
    }
}

/// Read or write where it is.
#[inline]
pub(crate) fn transfer(io: &Io) -> Result<u32, Errno> {
    let (buffer, len) = (io.buffer.cast(), io.len as usize);
    // SAFETY: `Io` promises `len` bytes at `buffer` that are this I/O's alone until the call
    // returns.
    unsafe {
        match io.op {
            Op::Read => bytes(libc::read(io.fd, buffer, len)),
            _ => bytes(libc::write(io.fd, buffer, len)),
        }
    }
}
