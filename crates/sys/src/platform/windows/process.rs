//! Threads and handles.
#![allow(unsafe_code)]

use std::io;
use std::os::windows::io::{AsHandle, IntoRawHandle};
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, Stdio};

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

/// cmd takes its line as it is, quotes and all.
pub(crate) fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.raw_arg("/C").raw_arg(line);
    command
}

/// Programs are called by their file's name.
pub(crate) fn call_it(_: &mut Command, _: &str) {}

/// A program cannot be sent Ctrl-C alone: all of the console would get it.
pub(crate) fn interrupt(_: &Child) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "Ctrl-C is sent to one program on Unix systems only",
    ))
}

pub(crate) fn standard_error_for_program() -> io::Result<Stdio> {
    io::stderr().as_handle().try_clone_to_owned().map(Stdio::from)
}

/// Handles are limited by memory alone.
pub(crate) fn open_files_limit() -> Option<(u64, Option<u64>)> {
    None
}

pub(crate) fn raise_open_files_limit() -> io::Result<()> {
    Ok(())
}

/// Load a library; names of libraries are apart here.
///
/// # Safety
/// Its constructors run, which must rely on nothing of ours.
pub(crate) unsafe fn open_globally(name: &str) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: as the caller promises.
    unsafe { libloading::Library::new(name) }
}

/// Users have no numbers here.
pub(crate) fn user() -> Option<u32> {
    None
}
