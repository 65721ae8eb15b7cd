//! Windows: handles, positioned I/O, a completion port, and views of files.
#![allow(unsafe_code)]

mod files;
mod mapping;
mod names;
pub(crate) mod page_loss;
pub(crate) mod position;
mod psync;
mod windowsaio;

pub(crate) use files::{
    advise, discard, drop_cached, explain_trim, fdatasync, fsync, open, open_to_sync, read_at,
    set_lifetime, set_size, sync_file_system, sync_range, write_at,
};
pub(crate) use mapping::{Mapping, map_alignment, missing_page};
pub(crate) use names::{create_file, make_dir, remove_dir, remove_file, stat};

use crate::catalogue::{ElsewhereEngines, LINUX_ENGINES, UNIX_ENGINES};
use crate::engines::{
    CAPS, NAMES, NO_DATA, OTHER_WORK, Tables, always, ftruncate, mmap, offload, one_shot, queued,
    sync,
};
use crate::{EngineDef, EngineError, FsyncCall};
use iosonde_base::Errno;
use std::fs::File;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle};
use std::process::Child;
use windows_sys::Win32::Foundation::HANDLE;

/// The engines of this system.
pub(crate) const ENGINES: Tables = &[
    NO_DATA,
    &[&windowsaio::WINDOWSAIO, &psync::PSYNC, &sync::SYNC, &mmap::MMAP, &ftruncate::FTRUNCATE],
    NAMES,
    OTHER_WORK,
];

/// The engine of a job that names none, as fio has it here.
pub(crate) const DEFAULT_ENGINE: &str = "windowsaio";

/// Engines that other systems have.
pub(crate) const ELSEWHERE: &[&ElsewhereEngines] = &[&LINUX_ENGINES, &UNIX_ENGINES];

/// FlushFileBuffers ends with a flush of the drive's cache.
pub(crate) const FSYNC: FsyncCall =
    FsyncCall { name: "FlushFileBuffers", empties_drive_cache: true };

/// The settings of engines that only this system has.
pub mod settings {}

/// An open file as an engine knows it: its handle, as a number; -1 is none.
pub type RawFile = isize;

/// The handle of an open file, as a number.
pub(crate) fn raw(file: &File) -> RawFile {
    file.as_raw_handle() as RawFile
}

/// An open file, for as long as it is borrowed.
pub(crate) fn lend(file: &File) -> BorrowedHandle<'_> {
    file.as_handle()
}

/// As the system's calls take it.
#[inline(always)]
fn handle(file: RawFile) -> HANDLE {
    file as HANDLE
}

/// The result of a call that returns 0 on failure.
#[inline(always)]
fn done(answer: i32) -> Result<(), Errno> {
    if answer == 0 { Err(Errno::last()) } else { Ok(()) }
}

/// CloseHandle reports no error of a write that came late.
pub(crate) fn close(file: File) -> Result<(), Errno> {
    drop(file);
    Ok(())
}

/// A process without windows cannot be asked to end: it is ended.
pub(crate) fn ask_to_end(child: &mut Child) -> std::io::Result<()> {
    child.kill()
}

/// Engines from shared objects are written against descriptors.
pub(crate) fn external(path: &str) -> Result<&'static EngineDef, EngineError> {
    Err(EngineError {
        message: format!("cannot load {path}: Windows has no engines from shared objects"),
        help: Some("use windowsaio, psync, sync or mmap".to_owned()),
        errno: Errno::EOPNOTSUPP,
    })
}
