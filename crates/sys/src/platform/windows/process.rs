//! Threads and handles.
#![allow(unsafe_code)]

use std::io;
use std::os::windows::io::IntoRawHandle;

use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::Threading as threading;

use super::done;
use super::files::OwnedHandle;

pub(crate) fn thread_id() -> u32 {
    // SAFETY: it takes nothing and returns a number.
    unsafe { threading::GetCurrentThreadId() }
}

pub(crate) fn set_thread_name(name: &str) -> io::Result<()> {
    let name = super::wide(name.as_ref());
    // SAFETY: the call reads text up to its zero; the handle of the thread itself is always valid.
    let result =
        unsafe { threading::SetThreadDescription(threading::GetCurrentThread(), name.as_ptr()) };
    if result < 0 { Err(io::Error::from(io::ErrorKind::Unsupported)) } else { Ok(()) }
}

pub(crate) fn close(handle: OwnedHandle) -> io::Result<()> {
    // SAFETY: the handle was owned here, nobody else closes it, and it is not used again.
    done(unsafe { CloseHandle(handle.into_raw_handle()) })
}
