//! macOS: F_NOCACHE, F_FULLFSYNC, and the ioctls of its disks.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use super::bsd;
use crate::{Answer, Device, DirectIo, Facts, Honoured, Known, OpenOptions, PathKind};

// <sys/disk.h>.
const DKIOCGETBLOCKSIZE: libc::c_ulong = 0x4004_6418;
const DKIOCGETBLOCKCOUNT: libc::c_ulong = 0x4008_6419;
const DKIOCUNMAP: libc::c_ulong = 0x8010_641f;
const DKIOCGETPHYSICALBLOCKSIZE: libc::c_ulong = 0x4004_644d;

pub(crate) fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let file = bsd::open(path, options, 0)?;
    if options.direct {
        control(&file, libc::F_NOCACHE, 1)?;
    }
    Ok(file)
}

fn control(file: &File, command: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the commands used here take a number, or nothing.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, value) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A number that a disk reports; both kinds of disk nodes do.
fn ioctl_value<T: Default>(file: &File, request: libc::c_ulong) -> io::Result<T> {
    match bsd::kind_of(file)? {
        PathKind::BlockDevice | PathKind::CharacterDevice => {}
        _ => return Err(io::Error::from_raw_os_error(libc::ENOTBLK)),
    }
    let mut answer = T::default();
    // SAFETY: each request above has in its bits the size of what it stores,
    // which is that of the `T` it is used with.
    match unsafe { libc::ioctl(file.as_raw_fd(), request, &raw mut answer) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(answer),
    }
}

pub(crate) fn device_size(file: &File) -> io::Result<u64> {
    let sector: u32 = ioctl_value(file, DKIOCGETBLOCKSIZE)?;
    let count: u64 = ioctl_value(file, DKIOCGETBLOCKCOUNT)?;
    Ok(count.saturating_mul(u64::from(sector)))
}

pub(crate) fn device(file: &File) -> io::Result<Device> {
    Ok(Device {
        bytes: device_size(file)?,
        logical_sector: ioctl_value(file, DKIOCGETBLOCKSIZE)?,
        physical_sector: ioctl_value(file, DKIOCGETPHYSICALBLOCKSIZE)?,
        rotational: None,
        discard_bytes_max: None,
    })
}

/// `dk_unmap_t` and `dk_extent_t` of <sys/disk.h>.
#[repr(C)]
struct Unmap {
    extents: *const [u64; 2],
    count: u32,
    options: u32,
}

pub(crate) fn discard(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    device_size(file)?;
    let extent = [offset, bytes];
    let unmap = Unmap { extents: &raw const extent, count: 1, options: 0 };
    // SAFETY: on a disk (its size was read) the request reads one `Unmap` and
    // the one extent it points to, both lent for the call.
    match unsafe { libc::ioctl(file.as_raw_fd(), DKIOCUNMAP, &raw const unmap) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

pub(crate) fn flush_buffers(file: &File) -> io::Result<()> {
    device_size(file)?;
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "macOS drops no device's cache on request; use the raw device (/dev/rdisk), which has none",
    ))
}

pub(crate) fn facts_of_file(file: &File) -> io::Result<Facts> {
    let why = "macOS reports it through IOKit only";
    let found = device(file).ok().map(|reported| bsd::facts_of_disk(file, &reported, why));
    bsd::facts_of_file(file, found)
}

/// Any alignment is taken; what is not at the borders of pages or sectors goes
/// through memory.
pub(crate) fn direct_io(file: &File) -> io::Result<DirectIo> {
    if let Ok(sector) = ioctl_value::<u32>(file, DKIOCGETBLOCKSIZE) {
        return Ok(DirectIo::aligned(sector, Known::Sector));
    }
    if bsd::kind_of(file)? != PathKind::File {
        return Ok(DirectIo::impossible(Known::Guessed("neither a file nor a disk")));
    }
    let page = u32::try_from(bsd::page_bytes()).unwrap_or(DirectIo::SAFE);
    let why = "F_NOCACHE takes any alignment, and passes memory only at multiples of a page";
    Ok(DirectIo::aligned(page, Known::Guessed(why)))
}

pub(crate) fn honoured(file: &File) -> io::Result<Honoured> {
    let answer = match bsd::kind_of(file)? {
        PathKind::CharacterDevice if device_size(file).is_ok() => {
            Answer::yes("a raw disk has no page cache")
        }
        PathKind::File | PathKind::BlockDevice => Answer::unknown(
            "F_NOCACHE is a wish that cannot be read back; pages in memory before are used",
        ),
        _ => Answer::no("it is neither a file nor a disk"),
    };
    bsd::for_access(file, answer)
}

/// macOS has no weaker call that its headers declare.
pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    sync_all(file)
}

/// fsync(2) hands the data to the device, which may keep it in its cache.
pub(crate) fn sync_all(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fsync(file)?)
}

pub(crate) fn full_barrier(file: &File) -> io::Result<()> {
    control(file, libc::F_FULLFSYNC, 0)
}

pub(crate) fn drop_cached(file: &File, _offset: u64, _bytes: u64) -> io::Result<()> {
    sync_all(file)?;
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "macOS drops no single file's pages; purge(8) drops all",
    ))
}
