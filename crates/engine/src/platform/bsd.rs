//! What macOS and FreeBSD have in common.
#![allow(unsafe_code)]

use super::unix::{errno, external, posixaio, psync, vsync};
use crate::catalogue::{ElsewhereEngines, LINUX_ENGINES, WINDOWS_ENGINES};
use crate::engines::{NAMES, NO_DATA, OTHER_WORK, Tables, ftruncate, mmap, sync};
use crate::platform::RawFile;
use crate::{EngineDef, EngineError, OpenMode, SyncRangeFlags, WriteLifetime};
use iosonde_base::Errno;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::path::Path;

/// The engines of these systems.
pub(crate) const ENGINES: Tables = &[
    NO_DATA,
    &[
        &psync::PSYNC,
        &sync::SYNC,
        &vsync::VSYNC,
        &psync::PVSYNC,
        &mmap::MMAP,
        &posixaio::POSIXAIO,
        &ftruncate::FTRUNCATE,
    ],
    NAMES,
    OTHER_WORK,
];

/// The engine of a job that names none.
pub(crate) const DEFAULT_ENGINE: &str = "psync";

/// Engines that other systems have.
pub(crate) const ELSEWHERE: &[&ElsewhereEngines] = &[&LINUX_ENGINES, &WINDOWS_ENGINES];

/// No advice about huge pages.
pub(crate) const HUGE_PAGES: Option<i32> = None;

/// The settings of engines that only this system has.
pub mod settings {}

/// An engine from a shared object.
pub(crate) fn external(path: &str) -> Result<&'static EngineDef, EngineError> {
    external::external(path)
}

/// The flags of open(2) that every system of these has; those of `direct` are the system's.
pub(super) fn flags(mode: OpenMode, block_device: bool) -> OFlags {
    // Writers read too: engines that map, and checks that read back.
    let mut flags = if mode.write { OFlags::RDWR } else { OFlags::RDONLY };
    flags |= OFlags::CLOEXEC;
    flags.set(OFlags::CREATE, mode.create && !block_device);
    flags
        | OFlags::from_bits_retain(match (mode.sync, mode.dsync) {
            (true, _) => libc::O_SYNC as u32,
            (false, true) => libc::O_DSYNC as u32,
            (false, false) => 0,
        })
}

/// Open a file for reading and writing by its owner.
pub(super) fn open_with(path: &Path, flags: OFlags) -> Result<File, Errno> {
    rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)).map(File::from).map_err(errno)
}

/// Open a file that was closed, to make it durable.
pub(crate) fn open_to_sync(path: &Path) -> Result<File, Errno> {
    open_with(path, OFlags::RDONLY | OFlags::CLOEXEC)
}

/// These systems take no hint of how long data will live.
pub(crate) fn set_lifetime(_: &File, _: WriteLifetime) -> Result<(), Errno> {
    Err(Errno::EOPNOTSUPP)
}

/// sync(2): there is no syncfs(2).
pub(crate) fn sync_file_system(_: &File) -> Result<(), Errno> {
    rustix::fs::sync();
    Ok(())
}

/// There is no sync_file_range(2).
pub(crate) fn sync_range(_: RawFile, _: u64, _: u32, _: SyncRangeFlags) -> Result<(), Errno> {
    Err(Errno::ENOSYS)
}

/// There is no statx(2).
pub(crate) fn statx(_: &Path) -> Result<(), Errno> {
    Err(Errno::ENOSYS)
}
