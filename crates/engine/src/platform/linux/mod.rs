//! Linux: its engines, and how its files are opened and made durable.

pub(crate) mod cmdprio;
mod e4defrag;
mod falloc;
mod files;
mod io_uring;
mod libaio;
mod net;
mod page_fault;
mod pvsync2;
pub(crate) mod rw_flags;
mod splice;
mod tree;
mod trim;

pub(crate) use super::posix::{advise, fdatasync};
pub(crate) use super::unix::external::external;
pub(crate) use files::{
    drop_cached, open, open_to_sync, set_lifetime, statx, sync_file_system, sync_range,
};
pub(crate) use trim::discard;

use super::unix::{bytes, close, errno, psync};
use crate::FsyncCall;
use crate::catalogue::{ElsewhereEngines, WINDOWS_ENGINES};
use crate::engines::{
    CAPS, NAMES, NO_DATA, OTHER_WORK, Tables, always, ftruncate, mmap, offload, one_shot, queued,
    shared_one_shot, stepwise, sync,
};

/// The engines of this system.
pub(crate) const ENGINES: Tables = &[
    NO_DATA,
    &[
        &psync::PSYNC,
        &sync::SYNC,
        &super::unix::vsync::VSYNC,
        &psync::PVSYNC,
        &pvsync2::PVSYNC2,
        &mmap::MMAP,
        &libaio::LIBAIO,
        &io_uring::IO_URING,
        &super::unix::posixaio::POSIXAIO,
        &splice::SPLICE,
        &falloc::FALLOC,
        &ftruncate::FTRUNCATE,
        &e4defrag::E4DEFRAG,
    ],
    NAMES,
    &[&tree::TREE, &page_fault::PAGE_FAULT],
    OTHER_WORK,
    &[&net::NET, &net::NETSPLICE],
];

/// The engine of a job that names none.
pub(crate) const DEFAULT_ENGINE: &str = "psync";

/// Engines that other systems have.
pub(crate) const ELSEWHERE: &[&ElsewhereEngines] = &[&WINDOWS_ENGINES];

/// File systems end fsync(2) with a flush of the drive's cache.
pub(crate) const FSYNC: FsyncCall = FsyncCall { name: "fsync(2)", empties_drive_cache: true };

/// Advice about huge pages, for madvise(2).
pub(crate) const HUGE_PAGES: Option<i32> = Some(libc::MADV_HUGEPAGE);

/// The settings of engines that only this system has.
pub mod settings {
    pub use super::cmdprio::{CommandPriorities, SizePriorities};
    pub use super::io_uring::UringSettings;
    pub use super::libaio::LibaioSettings;
    pub use super::net::{NetSettings, Protocol};
    pub use super::pvsync2::Pvsync2Settings;
}
