//! FreeBSD: O_DIRECT, and the ioctls of its disks, which are character devices
//! without a page cache.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use super::bsd;
use crate::lock::{ByteRange, Conflict, LockError, LockKind, Patience};
use crate::{Answer, Device, DirectIo, Fact, Facts, Honoured, Known, OpenOptions, PathKind};

// <sys/disk.h>.
const DIOCGSECTORSIZE: libc::c_ulong = 0x4004_6480;
const DIOCGMEDIASIZE: libc::c_ulong = 0x4008_6481;
const DIOCGFLUSH: libc::c_ulong = 0x2000_6487;
const DIOCGDELETE: libc::c_ulong = 0x8010_6488;
const DIOCGIDENT: libc::c_ulong = 0x4100_6489;
const DIOCGSTRIPESIZE: libc::c_ulong = 0x4008_648b;
const DIOCGSTRIPEOFFSET: libc::c_ulong = 0x4008_648c;

pub(crate) fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    bsd::open(path, options, if options.direct { libc::O_DIRECT } else { 0 })
}

/// The value that a disk stores for a request; its size is in the request's bits.
fn ioctl_value<T>(file: &File, request: libc::c_ulong, mut answer: T) -> io::Result<T> {
    if bsd::kind_of(file)? != PathKind::CharacterDevice {
        return Err(io::Error::from_raw_os_error(libc::ENOTBLK));
    }
    // SAFETY: each request above stores what the `T` it is used with has room
    // for, or reads it.
    match unsafe { libc::ioctl(file.as_raw_fd(), request, &raw mut answer) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(answer),
    }
}

pub(crate) fn device_size(file: &File) -> io::Result<u64> {
    ioctl_value(file, DIOCGMEDIASIZE, 0_u64)
}

pub(crate) fn device(file: &File) -> io::Result<Device> {
    let logical_sector = ioctl_value(file, DIOCGSECTORSIZE, 0_u32)?;
    // Zero: the disk reports none larger.
    let stripe = ioctl_value(file, DIOCGSTRIPESIZE, 0_u64).unwrap_or(0);
    let physical = u32::try_from(stripe).ok().filter(|&bytes| bytes > 0);
    Ok(Device {
        bytes: device_size(file)?,
        logical_sector,
        physical_sector: physical.unwrap_or(logical_sector),
        rotational: None,
        discard_bytes_max: None,
    })
}

pub(crate) fn discard(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    ioctl_value(file, DIOCGDELETE, [offset, bytes]).map(drop)
}

/// There is no page cache to drop; the disk's own is flushed.
pub(crate) fn flush_buffers(file: &File) -> io::Result<()> {
    ioctl_value(file, DIOCGFLUSH, ()).map(drop)
}

pub(crate) fn facts_of_file(file: &File) -> io::Result<Facts> {
    let found = device(file).ok().map(|found| {
        let mut facts = bsd::facts_of_disk(file, &found, "FreeBSD's ioctls do not report it");
        facts.serial = serial(file);
        let offset = ioctl_value(file, DIOCGSTRIPEOFFSET, 0_u64).ok();
        let offset = offset.and_then(|bytes| u32::try_from(bytes).ok());
        facts.alignment_offset = Fact::or_why(offset, "the disk does not report it");
        facts
    });
    bsd::facts_of_file(file, found)
}

fn serial(file: &File) -> Fact<String> {
    match ioctl_value(file, DIOCGIDENT, [0_u8; 256]) {
        Ok(text) => {
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
            let text = String::from_utf8_lossy(&text[..end]).trim().to_owned();
            Fact::or_why((!text.is_empty()).then_some(text), "the disk has none")
        }
        Err(error) => Fact::unknown(format!("DIOCGIDENT: {error}")),
    }
}

pub(crate) fn direct_io(file: &File) -> io::Result<DirectIo> {
    if let Ok(sector) = ioctl_value(file, DIOCGSECTORSIZE, 0_u32) {
        return Ok(DirectIo::aligned(sector, Known::Sector));
    }
    if bsd::kind_of(file)? != PathKind::File {
        return Ok(DirectIo::impossible(Known::Guessed("neither a file nor a disk")));
    }
    let why = "O_DIRECT takes any alignment, and passes memory only at multiples of a sector";
    Ok(DirectIo::aligned(DirectIo::SAFE, Known::Guessed(why)))
}

pub(crate) fn honoured(file: &File) -> io::Result<Honoured> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    let answer = if device_size(file).is_ok() {
        Answer::yes("disks have no page cache on FreeBSD")
    } else if !flags.contains(rustix::fs::OFlags::DIRECT) {
        Answer::no("it is not open with O_DIRECT")
    } else if bsd::kind_of(file)? != PathKind::File {
        Answer::no("it is neither a file nor a disk")
    } else {
        match bsd::mount_of(file)?.filesystem.as_str() {
            "tmpfs" => Answer::no("tmpfs keeps its files in memory"),
            other => Answer::unknown(format!("to {other}, O_DIRECT is a wish")),
        }
    };
    bsd::for_access(file, answer)
}

pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fdatasync(file)?)
}

pub(crate) fn sync_all(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fsync(file)?)
}

/// fsync(2) ends with a flush of the disk's cache; of a disk itself, which has
/// no pages, only that is left to do.
pub(crate) fn full_barrier(file: &File) -> io::Result<()> {
    if device_size(file).is_ok() { flush_buffers(file) } else { sync_all(file) }
}

pub(crate) fn drop_cached(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    sync_data(file)?;
    let length = std::num::NonZeroU64::new(bytes);
    Ok(rustix::fs::fadvise(file, offset, length, rustix::fs::Advice::DontNeed)?)
}

const NO_RANGES: LockError = LockError::Unsupported(
    "FreeBSD's locks of ranges belong to a process, which any close in it gives back",
);

pub(crate) fn lock_range(
    _: &File,
    _: LockKind,
    _: Patience,
    _: ByteRange,
) -> Result<(), LockError> {
    Err(NO_RANGES)
}

pub(crate) fn unlock_range(_: &File, _: ByteRange) -> Result<(), LockError> {
    Err(NO_RANGES)
}

pub(crate) fn conflict(_: &File, _: LockKind, _: ByteRange) -> Result<Option<Conflict>, LockError> {
    Err(NO_RANGES)
}
