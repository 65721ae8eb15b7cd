//! Calls on the names of files and directories.

use super::errno;
use crate::engines::file_ops::StatType;
use crate::platform::statx;
use iosonde_base::Errno;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::path::Path;

/// open(2) of a file that may not be there yet.
pub(crate) fn create_file(path: &Path) -> Result<File, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)).map(File::from).map_err(errno)
}

/// Ask for the attributes of a name.
pub(crate) fn stat(call: StatType, path: &Path) -> Result<(), Errno> {
    match call {
        StatType::Stat => rustix::fs::stat(path).map(drop).map_err(errno),
        StatType::Lstat => rustix::fs::lstat(path).map(drop).map_err(errno),
        StatType::Statx => statx(path),
    }
}

/// unlink(2).
pub(crate) fn remove_file(path: &Path) -> Result<(), Errno> {
    rustix::fs::unlink(path).map_err(errno)
}

/// mkdir(2).
pub(crate) fn make_dir(path: &Path) -> Result<(), Errno> {
    rustix::fs::mkdir(path, Mode::from_raw_mode(0o755)).map_err(errno)
}

/// rmdir(2).
pub(crate) fn remove_dir(path: &Path) -> Result<(), Errno> {
    rustix::fs::rmdir(path).map_err(errno)
}
