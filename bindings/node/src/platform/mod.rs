//! What differs between operating systems, behind one set of names.
//! The system is chosen here, once.

use std::fs::File;
use std::io;

#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "freebsd")]
pub(crate) use freebsd::{FLAGS, SETTERS, block_device};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{FLAGS, SETTERS, block_device};
#[cfg(target_os = "macos")]
pub(crate) use macos::{FLAGS, SETTERS, block_device};
#[cfg(unix)]
pub(crate) use unix::{BUSY, INVALID, NO_MEMORY, NOT_BLOCK, NOT_OPEN, number, path_of};
#[cfg(windows)]
pub(crate) use windows::{
    BUSY, FLAGS, INVALID, NO_MEMORY, NOT_BLOCK, NOT_OPEN, SETTERS, block_device, number, path_of,
};

/// One of the drop-in's three functions that set something on a file.
#[derive(Clone, Copy)]
pub(crate) enum Setter {
    /// Sets it, or says in the original's words why not.
    Here(fn(io::Result<&File>, bool) -> Result<(), &'static str>),
    /// What is thrown where the system has no such thing.
    Elsewhere(&'static str),
}
