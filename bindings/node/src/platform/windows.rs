//! The drop-in on Windows.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use iosonde_direct::{Device, Fact, Facts, lock};

use super::Setter;
use crate::drop_in::BlockDevice;

/// libuv's own numbers, which are no error of Windows' (uv/errno.h).
pub(crate) const NO_MEMORY: i32 = 4057;
pub(crate) const NOT_BLOCK: i32 = 15;
pub(crate) const INVALID: i32 = 4071;
pub(crate) const BUSY: i32 = 4088;

/// libuv's numbers for open flags, which `fs.open` hands to it: not those of
/// CreateFile. In the original's order.
pub(crate) const FLAGS: [(&str, i32); 5] = [
    ("O_DIRECT", 0x0200_0000),
    ("O_DSYNC", 0x0400_0000),
    ("O_EXCL", 0x0400),
    ("O_EXLOCK", 0x1000_0000),
    ("O_SYNC", 0x0800_0000),
];

/// In the original's order.
pub(crate) const SETTERS: [(&str, Setter); 3] = [
    ("setF_NOCACHE", Setter::Elsewhere("only supported on mac os")),
    ("setFlock", Setter::Elsewhere("not supported on windows")),
    ("setFSCTL_LOCK_VOLUME", Setter::Here(set_volume_lock)),
];

/// What `getBlockDevice` says of a descriptor that is not open.
pub(crate) const NOT_OPEN: &str = "EBADF: bad file descriptor";

/// libuv's number for an error, if it has one.
pub(crate) fn number(error: &io::Error) -> Option<i32> {
    const ERROR_INVALID_HANDLE: i32 = 6;
    match (error.raw_os_error(), error.kind()) {
        (Some(ERROR_INVALID_HANDLE), _) => Some(4083),
        (_, io::ErrorKind::NotFound) => Some(4058),
        (_, io::ErrorKind::PermissionDenied) => Some(4048),
        (_, io::ErrorKind::OutOfMemory) => Some(NO_MEMORY),
        _ => None,
    }
}

/// The path that these bytes of UTF-8 are.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// What `getBlockDevice` answers, or in the original's words why not. The
/// original never has a serial number there.
pub(crate) fn block_device(file: &File) -> Result<BlockDevice, &'static str> {
    let device = Device::of(file).map_err(|_| "IOCTL_STORAGE_QUERY_PROPERTY failed")?;
    let facts = Facts::of_file(file).map_err(|_| "IOCTL_STORAGE_QUERY_PROPERTY failed")?;
    let none = Fact::unknown("not a disk");
    Ok(BlockDevice::of(&device, facts.device().map_or(&none, |device| &device.serial)))
}

fn set_volume_lock(file: io::Result<&File>, lock: bool) -> Result<(), &'static str> {
    let file = file.map_err(|_| "EBADF: bad file descriptor")?;
    match lock {
        true => lock::lock_volume(file).map_err(|_| "FSCTL_LOCK_VOLUME failed"),
        false => lock::unlock_volume(file).map_err(|_| "FSCTL_UNLOCK_VOLUME failed"),
    }
}
