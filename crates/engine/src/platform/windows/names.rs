//! Calls on the names of files and directories.

use crate::engines::file_ops::StatType;
use iosonde_base::Errno;
use std::fs::{self, File};
use std::path::Path;

/// CreateFile of a file that may not be there yet.
pub(crate) fn create_file(path: &Path) -> Result<File, Errno> {
    let mut options = File::options();
    Ok(options.read(true).write(true).create(true).truncate(false).open(path)?)
}

/// Ask for the attributes of a name: of a link itself by lstat, else of what it leads to.
pub(crate) fn stat(call: StatType, path: &Path) -> Result<(), Errno> {
    match call {
        StatType::Stat => fs::metadata(path).map(drop)?,
        StatType::Lstat => fs::symlink_metadata(path).map(drop)?,
        // There is no such call.
        StatType::Statx => return Err(Errno::ENOSYS),
    }
    Ok(())
}

/// DeleteFile.
pub(crate) fn remove_file(path: &Path) -> Result<(), Errno> {
    Ok(fs::remove_file(path)?)
}

/// CreateDirectory.
pub(crate) fn make_dir(path: &Path) -> Result<(), Errno> {
    Ok(fs::create_dir(path)?)
}

/// RemoveDirectory.
pub(crate) fn remove_dir(path: &Path) -> Result<(), Errno> {
    Ok(fs::remove_dir(path)?)
}
