//! Linux.

mod cache;
mod device;
mod device_facts;
mod durability;
mod facts;
mod honoured;
mod mounts;
mod open;
mod pages;
mod probe;
mod stack;
mod tree;

use crate::stack::DeviceId;

/// Trees of /sys and /proc, for our users too.
pub(crate) mod sysfs {
    pub use super::mounts::{mount_below, parse_mounts, parse_swaps};
    pub use super::tree::{Tree, block_device_at};
}

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

/// The numbers in an `st_dev` or `st_rdev`.
pub(crate) fn device_id(device: libc::dev_t) -> DeviceId {
    DeviceId { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
}
