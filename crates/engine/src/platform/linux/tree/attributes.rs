//! Times and extended attributes of files.

use rustix::fs::{AtFlags, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The attribute, of those that users may set (xattr(7)).
const NAME: &CStr = c"user.iosonde";
/// As long as the security labels and access lists that files usually have.
const VALUE: &[u8; 64] = b"iosonde: an extended attribute of 64 bytes, set by a test run. \n";

/// Set both times of a file to one that follows from its number.
pub(super) fn set_times(top: &OwnedFd, path: &CStr, index: u64) -> Result<(), Errno> {
    let second = |number: u64| Timespec { tv_sec: (number % (1 << 31)) as i64, tv_nsec: 0 };
    let times = Timestamps { last_access: second(index), last_modification: second(index + 1) };
    rustix::fs::utimensat(top, path, &times, AtFlags::SYMLINK_NOFOLLOW)
}

/// Sets and reads the attribute: by whole paths, as these calls take no directory before Linux 6.13.
#[derive(Debug)]
pub(super) struct FileAttribute {
    /// The top directory's, with a slash; behind it the last file's.
    path: Vec<u8>,
    top: usize,
}

impl FileAttribute {
    /// Of files in a tree with this top directory.
    pub(super) fn new(top: &Path) -> FileAttribute {
        let mut path = top.as_os_str().as_bytes().to_vec();
        path.push(b'/');
        FileAttribute { top: path.len(), path }
    }

    /// Give a file the attribute, which it does not have yet.
    pub(super) fn set(&mut self, path: &CStr) -> Result<(), Errno> {
        rustix::fs::lsetxattr(self.whole(path)?, NAME, VALUE, XattrFlags::CREATE)
    }

    /// Read the attribute of a file: it must be what was set.
    pub(super) fn check(&mut self, path: &CStr) -> Result<(), Errno> {
        let mut found = [0; VALUE.len() + 1];
        let bytes = rustix::fs::lgetxattr(self.whole(path)?, NAME, &mut found)?;
        if &found[..bytes] == VALUE { Ok(()) } else { Err(Errno::NODATA) }
    }

    fn whole(&mut self, path: &CStr) -> Result<&CStr, Errno> {
        self.path.truncate(self.top);
        self.path.extend_from_slice(path.to_bytes_with_nul());
        CStr::from_bytes_with_nul(&self.path).map_err(|_| Errno::INVAL)
    }
}
