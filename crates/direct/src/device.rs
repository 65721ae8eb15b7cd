//! Block devices: what they are, and the commands that are not reads or writes.

use std::fs::File;
use std::io;

use crate::platform;

/// The geometry that a block device reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its size in bytes.
    pub bytes: u64,
    /// The smallest unit it reads and writes, in bytes.
    pub logical_sector: u32,
    /// The smallest unit it writes without reading first, in bytes.
    pub physical_sector: u32,
    /// Whether it has to move a head; `None` if it does not say.
    pub rotational: Option<bool>,
    /// The most bytes one discard may cover, 0 if it takes none; `None` if it
    /// does not say.
    pub discard_bytes_max: Option<u64>,
}

impl Device {
    /// The device that `file` is.
    ///
    /// # Errors
    /// If it is no block device, or the device does not answer.
    pub fn of(file: &File) -> io::Result<Device> {
        platform::device(file)
    }
}

/// The size of a block device, in bytes.
///
/// # Errors
/// If it is no block device.
pub fn size(file: &File) -> io::Result<u64> {
    platform::device_size(file)
}

/// Tell a block device that it may forget `bytes` bytes at `offset`, both
/// multiples of its logical sector. Returns when it has been reported.
///
/// # Errors
/// If it is not open for writing, takes no discards, or the range is not
/// aligned or not within the device.
pub fn discard(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    platform::discard(file, offset, bytes)
}

/// Write a block device's dirty pages back and drop its page cache.
///
/// # Errors
/// If it is no block device, or the caller may not (it takes CAP_SYS_ADMIN).
pub fn flush_buffers(file: &File) -> io::Result<()> {
    platform::flush_buffers(file)
}
