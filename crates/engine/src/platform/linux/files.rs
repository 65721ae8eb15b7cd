//! How files are opened, advised, dropped from the page cache and made durable on Linux.
#![allow(unsafe_code)]

use super::errno;
use crate::platform::{RawFile, posix};
use crate::{FileSetup, OpenMode, SyncRangeFlags, WriteLifetime};
use iosonde_base::Errno;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Open a file as the plan says: what failed, and what that may mean.
pub(crate) fn open(setup: &FileSetup) -> Result<File, (Errno, Option<&'static str>)> {
    let mode = setup.mode;
    let mut flags = match (mode.read, mode.write) {
        // Writers read too: engines that map, and checks that read back.
        (_, true) => OFlags::RDWR,
        _ => OFlags::RDONLY,
    };
    flags |= OFlags::CLOEXEC;
    flags.set(OFlags::CREATE, mode.create && !setup.block_device);
    flags.set(OFlags::DIRECT, mode.direct);
    flags |= durability(mode);
    // Not our own file: leave its access time alone where we may.
    let permissions = Mode::from_raw_mode(0o600);
    let opened =
        rustix::fs::open(&setup.path, flags | OFlags::NOATIME, permissions).or_else(|error| {
            match error {
                rustix::io::Errno::PERM => rustix::fs::open(&setup.path, flags, permissions),
                other => Err(other),
            }
        });
    opened.map(File::from).map_err(|error| {
        let no_direct = mode.direct && error == rustix::io::Errno::INVAL;
        let detail = "the file system may not take O_DIRECT; try direct=0";
        (errno(error), no_direct.then_some(detail))
    })
}

/// O_SYNC, O_DSYNC or neither. The numbers are libc's: rustix's DSYNC carries
/// the bits of O_SYNC, and O_SYNC has the bit of O_DSYNC in it, so that clearing
/// the one would break the other.
fn durability(mode: OpenMode) -> OFlags {
    OFlags::from_bits_retain(match (mode.sync, mode.dsync) {
        (true, _) => libc::O_SYNC as u32,
        (false, true) => libc::O_DSYNC as u32,
        (false, false) => 0,
    })
}

/// `F_SET_RW_HINT` of <linux/fcntl.h>.
const F_SET_RW_HINT: libc::c_int = 1036;

/// Say how long what is written is expected to live.
pub(crate) fn set_lifetime(file: &File, lifetime: WriteLifetime) -> Result<(), Errno> {
    let hint = lifetime as u64;
    // SAFETY: the kernel reads one u64, which `hint` is, before the call returns.
    match unsafe { libc::fcntl(file.as_raw_fd(), F_SET_RW_HINT, &raw const hint) } {
        0 => Ok(()),
        _ => Err(Errno::last()),
    }
}

/// BLKFLSBUF, from linux/fs.h.
const BLKFLSBUF: libc::c_ulong = 0x1261;

fn flush_buffers(file: &File) {
    // SAFETY: the request takes no argument that the kernel would write to,
    // and the descriptor is open for as long as `file` is borrowed. Without
    // CAP_SYS_ADMIN it fails and the cache stays, which is reported elsewhere.
    unsafe { libc::ioctl(file.as_raw_fd(), BLKFLSBUF, 0) };
}

/// Open a file that was closed, to make it durable.
pub(crate) fn open_to_sync(path: &Path) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map(File::from).map_err(errno)
}

/// Drop the job's range of a file from the page cache: posix_fadvise(2) DONTNEED for a file,
/// BLKFLSBUF for a block device (where root may).
pub(crate) fn drop_cached(file: &File, setup: &FileSetup) -> Result<(), Errno> {
    if setup.block_device {
        flush_buffers(file);
        return Ok(());
    }
    posix::drop_pages(file, setup)
}

/// syncfs(2).
pub(crate) fn sync_file_system(file: &File) -> Result<(), Errno> {
    rustix::fs::syncfs(file).map_err(errno)
}

/// sync_file_range(2).
pub(crate) fn sync_range(
    file: RawFile,
    offset: u64,
    len: u32,
    flags: SyncRangeFlags,
) -> Result<(), Errno> {
    // SAFETY: the call takes numbers only.
    let result = unsafe { libc::sync_file_range(file, offset as i64, i64::from(len), flags.0) };
    if result == 0 { Ok(()) } else { Err(Errno::last()) }
}

/// statx(2).
pub(crate) fn statx(path: &Path) -> Result<(), Errno> {
    rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::ALL).map(drop).map_err(errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sync_and_dsync_open_with_the_flags_of_their_names() {
        let flags =
            |sync, dsync| durability(OpenMode { sync, dsync, ..OpenMode::default() }).bits();
        assert_eq!(flags(true, false), libc::O_SYNC as u32);
        assert_eq!(flags(false, true), libc::O_DSYNC as u32);
        assert_eq!(flags(false, false), 0);
    }

    #[test]
    fn a_file_that_takes_no_direct_io_is_named_with_what_helps() {
        // procfs takes no O_DIRECT.
        let mode = OpenMode { read: true, direct: true, ..OpenMode::default() };
        let (errno, words) = open(&FileSetup::new("/proc/self/stat", mode, 4096)).unwrap_err();
        assert_eq!(errno, Errno::EINVAL);
        assert!(words.is_some_and(|words| words.contains("direct=0")), "{words:?}");
    }

    #[test]
    fn the_kernel_keeps_the_write_hint_of_a_file() {
        const F_GET_RW_HINT: libc::c_int = 1035;
        let folder = iosonde_testing::Folder::new("write-hint");
        let file = std::fs::File::create(folder.join("f")).unwrap();
        let kept = || {
            let mut hint = 0u64;
            // SAFETY: the kernel writes one u64, which `hint` is, before the call returns.
            let answer = unsafe { libc::fcntl(file.as_raw_fd(), F_GET_RW_HINT, &raw mut hint) };
            assert_eq!(answer, 0);
            hint
        };
        for lifetime in [WriteLifetime::Long, WriteLifetime::Short, WriteLifetime::None] {
            match set_lifetime(&file, lifetime) {
                Err(Errno::EINVAL | Errno::ENOTTY | Errno::EOPNOTSUPP) => {
                    iosonde_testing::skip!("the kernel takes no write hints");
                }
                set => set.unwrap(),
            }
            assert_eq!(kept(), lifetime as u64);
        }
    }
}
