//! Files that replace others.

use rustix::io::Errno;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::files::Status;

/// Whether a path names what is open already, such as /dev/stdout, and has others that write to it.
pub(crate) fn may_be_open_elsewhere(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

/// Whether the directory takes no new file, while the one that is there may be written: no leave,
/// or a mount of this file alone. Any other error, as EIO, is one of the storage, and writing in
/// place would risk what is there.
pub(crate) fn takes_no_new_file(error: &io::Error) -> bool {
    let named = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(named, Some(Errno::ACCESS | Errno::PERM | Errno::ROFS))
}

/// Give a file the owner and the permissions of the one that it replaces; whether it has them.
pub(crate) fn take_after(file: &File, old: &Status) -> bool {
    let Ok(new) = file.metadata() else { return false };
    let is_owned = (new.uid(), new.gid()) == (old.uid(), old.gid())
        || std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid())).is_ok();
    is_owned && file.set_permissions(Permissions::from_mode(old.mode() & 0o7777)).is_ok()
}

/// Have the names in a directory on the device.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_data() {
        // A file system without fsync(2) is no error.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
        {
            Ok(())
        }
        synced => synced,
    }
}
