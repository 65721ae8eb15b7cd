//! The drop-in on Linux.

use std::fs::File;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use iosonde_direct::stack::DeviceId;
use iosonde_direct::{Device, DeviceFacts};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::Setter;
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
/// the serial elsewhere, and gives an empty one if there is none.
pub(crate) fn block_device(file: &File) -> Result<BlockDevice, &'static str> {
    let metadata = file.metadata().map_err(|_| "fstat failed")?;
    let kind = metadata.file_type();
    if !kind.is_block_device() && !kind.is_char_device() {
        return Err("fd is not a block or character device");
    }
    // The first question that a character device does not understand.
    let device = Device::of(file).map_err(|_| "BLKSSZGET failed")?;
    let facts = DeviceFacts::of(DeviceId::from_raw(metadata.rdev()));
    Ok(BlockDevice {
        logical_sector_bytes: device.logical_sector,
        physical_sector_bytes: device.physical_sector,
        bytes: device.bytes,
        serial: facts
            .serial
            .known()
            .map(|serial| serial.trim_matches(' ').to_owned())
            .unwrap_or_default(),
    })
}

fn set_flock(file: Result<&File, Errno>, lock: bool) -> Result<(), &'static str> {
    let operation = match lock {
        true => FlockOperation::NonBlockingLockExclusive,
        false => FlockOperation::Unlock,
    };
    file.and_then(|file| flock(file, operation)).map_err(|errno| match errno {
        Errno::WOULDBLOCK => "EWOULDBLOCK, the file is already locked",
        Errno::BADF => "EBADF, fd is an invalid file descriptor",
        Errno::INTR => "EINTR, the call was interrupted by a signal",
        Errno::INVAL => "EINVAL, fd does not refer to a file",
        Errno::NOTSUP => "ENOTSUP, fd is not of the correct type",
        _ => "unable to obtain an exclusive lock",
    })
}
