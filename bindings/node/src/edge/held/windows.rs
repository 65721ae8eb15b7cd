//! Descriptors where they are numbers of Node's own C library.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::windows::io::{BorrowedHandle, RawHandle};

use libloading::os::windows::Library;

use super::Kind;

/// What Windows calls a descriptor that is not open.
const ERROR_INVALID_HANDLE: i32 = 6;

pub(super) fn hold(fd: u32) -> io::Result<Kind> {
    let bad = || io::Error::from_raw_os_error(ERROR_INVALID_HANDLE);
    let fd = c_int::try_from(fd).map_err(|_| bad())?;
    let handle = os_handle(fd)?;
    if handle.addr() == usize::MAX || handle.is_null() {
        return Err(bad());
    }
    // SAFETY: the handle is only handed to the system, in this one call, which
    // answers ERROR_INVALID_HANDLE if it is not open.
    let second = unsafe { BorrowedHandle::borrow_raw(handle) }.try_clone_to_owned()?;
    Ok(Kind::Own(File::from(second)))
}

/// The system's handle of a descriptor. Only the C library that made the number
/// knows: that of the running program, which exports libuv's door to it.
fn os_handle(fd: c_int) -> io::Result<RawHandle> {
    type Door = unsafe extern "C" fn(c_int) -> RawHandle;
    let program = Library::this().map_err(io::Error::other)?;
    // SAFETY: the name has had this signature in every libuv since 1.23.
    let door = unsafe { program.get::<Door>(b"uv_get_osfhandle\0") }.map_err(io::Error::other)?;
    // SAFETY: for a number that is not open it returns -1: libuv has turned off
    // the C library's abort for these.
    Ok(unsafe { door(fd) })
}
