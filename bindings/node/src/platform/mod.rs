//! What differs between operating systems, behind one set of names.
//! The system is chosen here, once.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;

use std::fs::File;

use rustix::io::Errno;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use linux::{FLAGS, SETTERS, block_device};

/// One of the drop-in's three functions that set something on a file.
#[derive(Clone, Copy)]
pub(crate) enum Setter {
    /// Sets it, or says in the original's words why not.
    Here(fn(Result<&File, Errno>, bool) -> Result<(), &'static str>),
    /// What is thrown where the system has no such thing.
    Elsewhere(&'static str),
}
