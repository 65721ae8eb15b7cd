//! Where a file has blocks: FIEMAP, and SEEK_DATA without it.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

use rustix::fs::SeekFrom;

use crate::counters::Extents;

/// `_IOWR('f', 11, struct fiemap)` of <linux/fs.h>.
const FS_IOC_FIEMAP: u64 = 0xc020_660b;
/// `_IOR('f', 1, long)` of <linux/fs.h>, on machines of 64 bits.
const FS_IOC_GETFLAGS: u64 = 0x8008_6601;
const LAST: u32 = 0x1;
const DELAYED: u32 = 0x4;
const ENCODED: u32 = 0x8;
const UNWRITTEN: u32 = 0x800;
/// Without a place of its own: unknown, delayed, encoded, not aligned, inline; or without data.
const NO_PLACE: u32 = 0x2 | DELAYED | ENCODED | 0x100 | 0x200 | UNWRITTEN;
/// Extents of one call, and calls: a file in more pieces is looked at in part.
const EXTENTS: usize = 256;
const CALLS: usize = 16;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS],
}

pub(crate) fn extents(file: &File, offset: u64, bytes: u64) -> io::Result<Extents> {
    match mapped(file, offset, bytes) {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => sought(file, offset, bytes),
        Err(error) if error.raw_os_error() == Some(libc::ENOTTY) => sought(file, offset, bytes),
        result => result,
    }
}

impl Map {
    fn new() -> Box<Map> {
        Box::new(Map {
            start: 0,
            length: 0,
            flags: 0,
            mapped: 0,
            count: EXTENTS as u32,
            reserved: 0,
            extents: [Extent::default(); EXTENTS],
        })
    }

    /// The first extents of a range.
    fn read(&mut self, file: &File, at: u64, length: u64) -> io::Result<&[Extent]> {
        (self.start, self.length, self.mapped) = (at, length, 0);
        // SAFETY: the call reads the head of `Map` and fills at most `count`
        // extents behind it, which is how many there are.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut *self) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(&self.extents[..(self.mapped as usize).min(EXTENTS)])
    }
}

/// Where the data of a range lies on the file system's device, as far as one call says.
pub(crate) fn places(file: &File, offset: u64, bytes: u64) -> io::Result<Vec<Range<u64>>> {
    let end = offset.saturating_add(bytes);
    let mut map = Map::new();
    let placed =
        map.read(file, offset, bytes)?.iter().filter(|extent| extent.flags & NO_PLACE == 0);
    let within = |extent: &Extent| {
        let begins = extent.logical.max(offset);
        let ends = extent_end(extent).min(end);
        let first = extent.physical.saturating_add(begins - extent.logical);
        first..first.saturating_add(ends.saturating_sub(begins))
    };
    Ok(placed.map(within).filter(|range| !range.is_empty()).collect())
}

fn mapped(file: &File, offset: u64, bytes: u64) -> io::Result<Extents> {
    let end = offset.saturating_add(bytes);
    let mut found = Extents::default();
    let mut at = offset;
    let mut map = Map::new();
    for _ in 0..CALLS {
        if at >= end {
            break;
        }
        let some = map.read(file, at, end - at)?;
        let Some(last) = some.last() else {
            found.hole_bytes += end - at;
            at = end;
            break;
        };
        for extent in some {
            let (begins, ends) = (extent.logical.max(at), extent_end(extent).min(end));
            if ends <= begins {
                continue;
            }
            found.hole_bytes += begins - at;
            match extent.flags {
                // With data in memory that has no place yet.
                flags if flags & DELAYED != 0 => found.data_bytes += ends - begins,
                flags if flags & UNWRITTEN != 0 => found.unwritten_bytes += ends - begins,
                _ => found.data_bytes += ends - begins,
            }
            if extent.flags & ENCODED != 0 {
                found.encoded_bytes += ends - begins;
            }
            at = ends;
        }
        if last.flags & LAST != 0 {
            found.hole_bytes += end.saturating_sub(at);
            at = end;
        }
    }
    found.looked_at_bytes = at.min(end) - offset;
    Ok(found)
}

fn extent_end(extent: &Extent) -> u64 {
    extent.logical.saturating_add(extent.length)
}

fn sought(file: &File, offset: u64, bytes: u64) -> io::Result<Extents> {
    let end = offset.saturating_add(bytes);
    let mut found = Extents::default();
    let mut at = offset;
    for _ in 0..EXTENTS * CALLS {
        if at >= end {
            break;
        }
        let data = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(end),
            // Nothing but a hole up to the end.
            Err(rustix::io::Errno::NXIO) => end,
            Err(error) => return Err(error.into()),
        };
        found.hole_bytes += data.saturating_sub(at);
        at = data;
        if at < end {
            let hole = rustix::fs::seek(file, SeekFrom::Hole(at))?.min(end);
            found.data_bytes += hole.saturating_sub(at);
            at = hole;
        }
    }
    found.looked_at_bytes = at.min(end) - offset;
    Ok(found)
}

/// The attributes of chattr(1).
pub(crate) fn attributes(file: &File) -> io::Result<u32> {
    let mut flags: libc::c_long = 0;
    // SAFETY: the kernel stores an int where it is given, within a long.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_GETFLAGS as _, &raw mut flags) };
    match result {
        0 => Ok(flags as u32),
        _ => Err(io::Error::last_os_error()),
    }
}
