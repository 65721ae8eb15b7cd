//! The drop-in on Linux.

use std::fs::File;
use std::os::unix::fs::MetadataExt;

use iosonde_direct::stack::DeviceId;
use iosonde_direct::{Device, DeviceFacts};

use super::Setter;
use super::unix::{device_kind, set_flock};
use crate::drop_in::BlockDevice;

/// In the original's order. Its O_DIRECT is 0 on aarch64, i386 and riscv64,
/// which is a defect of it; here it is the kernel's on every architecture.
pub(crate) const FLAGS: [(&str, i32); 5] = [
    ("O_DIRECT", libc::O_DIRECT),
    ("O_DSYNC", libc::O_DSYNC),
    ("O_EXCL", libc::O_EXCL),
    ("O_EXLOCK", 0),
    ("O_SYNC", libc::O_SYNC),
];

/// In the original's order.
pub(crate) const SETTERS: [(&str, Setter); 3] = [
    ("setF_NOCACHE", Setter::Elsewhere("only supported on mac os")),
    ("setFlock", Setter::Here(set_flock)),
    ("setFSCTL_LOCK_VOLUME", Setter::Elsewhere("only supported on windows")),
];

/// What `getBlockDevice` answers, or in the original's words why not. Where the
/// original fails because a device answers no SCSI inquiry, this one looks for
/// the serial elsewhere, and gives an empty one if the device has none.
pub(crate) fn block_device(file: &File) -> Result<BlockDevice, &'static str> {
    device_kind(file)?;
    // The first question that a character device does not understand.
    let device = Device::of(file).map_err(|_| "BLKSSZGET failed")?;
    let id = file.metadata().map_err(|_| "fstat failed")?.rdev();
    let facts = DeviceFacts::of(DeviceId::from_raw(id));
    Ok(BlockDevice::of(&device, &facts.serial))
}
