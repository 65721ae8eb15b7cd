//! The drop-in on macOS. The original knows no serial numbers there, and
//! neither does this.

use std::fs::File;
use std::io;

use iosonde_direct::{Device, Fact};
use rustix::io::Errno;

use super::Setter;
use super::unix::{device_kind, set_flock};
use crate::drop_in::BlockDevice;

/// In the original's order.
pub(crate) const FLAGS: [(&str, i32); 5] = [
    ("O_DIRECT", 0),
    ("O_DSYNC", libc::O_DSYNC),
    ("O_EXCL", libc::O_EXCL),
    ("O_EXLOCK", libc::O_EXLOCK),
    ("O_SYNC", libc::O_SYNC),
];

/// In the original's order.
pub(crate) const SETTERS: [(&str, Setter); 3] = [
    ("setF_NOCACHE", Setter::Here(set_no_cache)),
    ("setFlock", Setter::Here(set_flock)),
    ("setFSCTL_LOCK_VOLUME", Setter::Elsewhere("only supported on windows")),
];

/// What `getBlockDevice` answers, or in the original's words why not.
pub(crate) fn block_device(file: &File) -> Result<BlockDevice, &'static str> {
    device_kind(file)?;
    let device = Device::of(file).map_err(|_| "DKIOCGETBLOCKSIZE failed")?;
    Ok(BlockDevice::of(&device, &Fact::unknown("not asked")))
}

fn set_no_cache(file: io::Result<&File>, bypass: bool) -> Result<(), &'static str> {
    let done = file.and_then(|file| Ok(rustix::fs::fcntl_nocache(file, bypass)?));
    done.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::BADF) => "EBADF: bad file descriptor, fcntl",
        _ => "unexpected error, fcntl",
    })
}
