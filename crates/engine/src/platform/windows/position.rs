//! I/O where the file's position is: SetFilePointerEx, ReadFile, WriteFile.
#![allow(unsafe_code)]

use super::{done, files, handle};
use crate::Io;
use crate::platform::RawFile;
use iosonde_base::{Errno, Op};
use std::ptr;
use windows_sys::Win32::Foundation::GetLastError;
use windows_sys::Win32::Storage::FileSystem::{FILE_BEGIN, ReadFile, SetFilePointerEx, WriteFile};

/// The calls.
pub(crate) const SUMMARY: &str = "SetFilePointerEx, ReadFile, WriteFile";
/// What the engine sync does with them.
pub(crate) const DOC: &str =
    "ReadFile and WriteFile, after SetFilePointerEx where the file's position is not the I/O's.";

/// Move the file's position to `offset`.
pub(crate) fn set(file: RawFile, offset: u64) -> Result<(), Errno> {
    let offset = i64::try_from(offset).map_err(|_| Errno::EFBIG)?;
    // SAFETY: the call takes numbers, and writes nothing to a null pointer.
    done(unsafe { SetFilePointerEx(handle(file), offset, ptr::null_mut(), FILE_BEGIN) })
}

/// Read or write where it is.
pub(crate) fn transfer(io: &Io) -> Result<u32, Errno> {
    let (file, mut moved) = (handle(io.fd), 0);
    // SAFETY: `Io` promises `len` bytes at `buffer` that are this I/O's alone until the call
    // returns, and the table of files keeps the file open.
    let answer = unsafe {
        match io.op {
            Op::Read => ReadFile(file, io.buffer, io.len, &raw mut moved, ptr::null_mut()),
            _ => WriteFile(file, io.buffer, io.len, &raw mut moved, ptr::null_mut()),
        }
    };
    if answer == 0 {
        // SAFETY: reads a number of this thread.
        return files::failed(unsafe { GetLastError() });
    }
    Ok(moved)
}
