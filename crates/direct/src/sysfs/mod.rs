//! What Linux reports about block devices and mounts in /sys and /proc, read from
//! this machine's trees or from copies of them in a folder.
//!
//! Everything here only reads files. What is not there, or is no text that the
//! kernel would write, is taken for unknown: no content makes it panic. Other systems have no such
//! trees of their own, only copies.

use std::io;
use std::path::Path;

use crate::platform;

mod mounts;
mod tree;

pub use mounts::{mount_below, parse_mounts, parse_swaps};
pub use tree::{Tree, block_device_at};

/// What the paths of /proc and /sys are below on this system: `/` on Linux, and elsewhere a place with nothing below it.
pub fn root() -> &'static Path {
    Path::new(platform::TREES_ROOT)
}

/// A file of /proc or /sys (`proc/stat`), as text.
///
/// # Errors
/// It cannot be read, or is not text; the system is not Linux.
pub fn text(path: &str) -> io::Result<String> {
    platform::kernel_text(path)
}
