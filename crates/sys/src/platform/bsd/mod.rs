//! The common part of macOS and FreeBSD.

mod disks;
mod files;
mod rest;
mod sysctl;
mod uses;

use std::io;

use crate::counters::{DiskCounters, Usage};

pub(crate) use disks::{is_harmless_character_device, shows_text};
pub(crate) use files::{extents, open_alone, other_clock, path_of, sync_file_system, unnamed};
pub(crate) use rest::{outlast, wait_while, wake_all};
pub(super) use sysctl::{number, text};
pub(crate) use uses::Uses;

pub(crate) fn usage_of_process() -> io::Result<Usage> {
    super::unix::usage(libc::RUSAGE_SELF)
}

pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Counters of disks are in libraries of these systems (IOKit, devstat), not in calls.
pub(crate) fn disk_counters(_: &str) -> io::Result<DiskCounters> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "counters of disks are read on Linux and Windows only",
    ))
}

/// Flags of chflags(2) say nothing about how a file is stored.
pub(crate) fn attributes(_: &std::fs::File) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A nice value is of the whole process.
pub(crate) fn add_nice(_: i32) -> io::Result<i32> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "a nice value of one thread: only Linux and Windows have it",
    ))
}

pub(crate) fn run_only_when_idle() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "a thread that runs only when idle: only Linux and Windows have it",
    ))
}

/// Rust's start opens /dev/null in its place, and nothing tells it apart.
pub(crate) fn standard_output_was_closed() -> bool {
    false
}
