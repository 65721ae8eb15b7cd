//! Numbers of devices and names of files, on all Unix systems alike.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use crate::stack::DeviceId;

/// The numbers in an `st_dev` or `st_rdev`.
pub(crate) fn device_id(device: u64) -> DeviceId {
    // 32 bits on some systems, which the library widens.
    let device = device as libc::dev_t;
    DeviceId { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
}

/// The block device that a node, or a link to one, stands for.
pub(crate) fn block_device_at(path: &Path) -> Option<DeviceId> {
    let status = fs::metadata(path).ok()?;
    status.file_type().is_block_device().then(|| device_id(status.rdev()))
}

/// A name from its bytes.
pub(crate) fn os_string(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}
