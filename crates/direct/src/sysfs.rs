//! What Linux reports about block devices and mounts in /sys and /proc, read from
//! this machine's trees or from copies of them in a folder.
//!
//! Everything here only reads files. What is not there, or is no text that the
//! kernel would write, is taken for unknown: no content makes it panic.

pub use crate::platform::sysfs::{Tree, block_device_at, mount_below, parse_mounts, parse_swaps};
