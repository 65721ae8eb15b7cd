//! The drop-in on FreeBSD.

use std::fs::File;

use iosonde_direct::{Device, Fact, Facts};

use super::Setter;
use super::unix::{device_kind, set_flock};
use crate::drop_in::BlockDevice;

/// In the original's order.
pub(crate) const FLAGS: [(&str, i32); 5] = [
    ("O_DIRECT", libc::O_DIRECT),
    ("O_DSYNC", libc::O_DSYNC),
    ("O_EXCL", libc::O_EXCL),
    ("O_EXLOCK", libc::O_EXLOCK),
    ("O_SYNC", libc::O_SYNC),
];

/// In the original's order.
pub(crate) const SETTERS: [(&str, Setter); 3] = [
    ("setF_NOCACHE", Setter::Elsewhere("only supported on mac os")),
    ("setFlock", Setter::Here(set_flock)),
    ("setFSCTL_LOCK_VOLUME", Setter::Elsewhere("only supported on windows")),
];

/// What `getBlockDevice` answers, or in the original's words why not.
pub(crate) fn block_device(file: &File) -> Result<BlockDevice, &'static str> {
    device_kind(file)?;
    let device = Device::of(file).map_err(|_| "DIOCGSECTORSIZE failed")?;
    let facts = Facts::of_file(file).map_err(|_| "DIOCGIDENT failed")?;
    let none = Fact::unknown("not a disk");
    Ok(BlockDevice::of(&device, facts.device().map_or(&none, |device| &device.serial)))
}
