//! Linux.

mod cache;
mod device;
mod device_facts;
mod durability;
mod facts;
mod honoured;
mod open;
mod pages;
mod probe;
mod stack;

use std::io;
use std::path::Path;

pub(crate) use cache::{drop_cached, residency, warm};
pub(crate) use device::{device, device_size, discard, flush_buffers};
pub(crate) use device_facts::device_facts;
pub(crate) use durability::{full_barrier, read_with, sync_all, sync_data, sync_range, write_with};
pub(crate) use facts::{facts_of_file, facts_of_path};
pub(crate) use honoured::honoured;
pub(crate) use open::open;
pub(crate) use pages::{HUGE_PAGES_REMEDY, Pages, page_bytes};
pub(crate) use probe::{direct_io, is_direct};
pub(crate) use stack::stack_under;

/// What the paths of /sys and /proc are below.
pub(crate) const TREES_ROOT: &str = "/";

/// A file of /proc or /sys.
pub(crate) fn kernel_text(path: &str) -> io::Result<String> {
    std::fs::read_to_string(Path::new(TREES_ROOT).join(path))
}
