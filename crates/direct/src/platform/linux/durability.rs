//! fsync(2) and similar calls, and the flags of preadv2(2) and pwritev2(2).
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::AsRawFd;

use rustix::io::ReadWriteFlags;

use super::probe;
use crate::durability::{CallError, ReadCaching, SyncRange, WriteFlags};

/// Flags of <linux/fs.h>; not all are in all of rustix's and libc's targets.
const RWF_DSYNC: u32 = 0x02;
const RWF_SYNC: u32 = 0x04;
const RWF_ATOMIC: u32 = 0x40;
const RWF_DONTCACHE: u32 = 0x80;

pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fdatasync(file)?)
}

pub(crate) fn sync_all(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fsync(file)?)
}

/// fsync(2) ends with a flush of the device's cache, unless the filesystem is
/// mounted with `nobarrier`.
pub(crate) fn full_barrier(file: &File) -> io::Result<()> {
    sync_all(file)
}

pub(crate) fn sync_range(
    file: &File,
    offset: u64,
    bytes: u64,
    how: SyncRange,
) -> Result<(), CallError> {
    let signed = |figure: u64| {
        i64::try_from(figure).map_err(|_| CallError::System(io::ErrorKind::InvalidInput.into()))
    };
    let (offset, bytes) = (signed(offset)?, signed(bytes)?);
    let flags = [
        (how.wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE),
        (how.write, libc::SYNC_FILE_RANGE_WRITE),
        (how.wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER),
    ];
    let flags = flags.iter().filter(|(set, _)| *set).fold(0, |all, (_, flag)| all | flag);
    // SAFETY: the call takes numbers only.
    let answer = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, bytes, flags) };
    if answer == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    Err(match error.raw_os_error() {
        Some(libc::ESPIPE) => {
            CallError::unsupported("sync_file_range(2)", "it is no file, device or folder")
        }
        Some(libc::ENOSYS | libc::EOPNOTSUPP) => {
            CallError::unsupported("sync_file_range(2)", "the kernel has none for it")
        }
        _ => CallError::System(error),
    })
}

pub(crate) fn write_with(
    file: &File,
    data: &[u8],
    offset: u64,
    flags: WriteFlags,
) -> Result<usize, CallError> {
    let bits = [
        (flags.dsync, RWF_DSYNC),
        (flags.sync, RWF_SYNC),
        (flags.atomic, RWF_ATOMIC),
        (flags.dont_cache, RWF_DONTCACHE),
    ];
    let bits = bits.iter().filter(|(set, _)| *set).fold(0, |all, (_, bit)| all | bit);
    let flag_bits = ReadWriteFlags::from_bits_retain(bits);
    rustix::io::pwritev2(file, &[IoSlice::new(data)], offset, flag_bits).map_err(|error| {
        let error = io::Error::from(error);
        if flags.atomic && error.raw_os_error() == Some(libc::EINVAL) {
            let limits = probe::atomic_write(file);
            let fits = |limits: &crate::AtomicWrite| limits.fits(data.len() as u64, offset);
            // A write of a fitting size was refused for another reason, as misaligned memory.
            if !limits.known().is_some_and(fits) {
                return CallError::Shape { bytes: data.len(), offset, limits };
            }
        }
        refused(error, || flags.names(), bits != 0)
    })
}

pub(crate) fn read_with(
    file: &File,
    data: &mut [u8],
    offset: u64,
    keep: ReadCaching,
) -> Result<usize, CallError> {
    let bits = match keep {
        ReadCaching::Cached => 0,
        ReadCaching::Dropped => RWF_DONTCACHE,
    };
    let flags = ReadWriteFlags::from_bits_retain(bits);
    rustix::io::preadv2(file, &mut [IoSliceMut::new(data)], offset, flags)
        .map_err(|error| refused(error.into(), || "RWF_DONTCACHE".to_owned(), bits != 0))
}

fn refused(error: io::Error, names: impl Fn() -> String, flagged: bool) -> CallError {
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOSYS) if flagged => CallError::unsupported(
            names(),
            "the kernel is too old for it, or the filesystem or device does not do it",
        ),
        _ => CallError::System(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_those_of_libc() {
        assert_eq!(RWF_DSYNC, libc::RWF_DSYNC as u32);
        assert_eq!(RWF_SYNC, libc::RWF_SYNC as u32);
        assert_eq!(RWF_ATOMIC, libc::RWF_ATOMIC as u32);
        assert_eq!(RWF_DONTCACHE, libc::RWF_DONTCACHE as u32);
    }

    #[test]
    fn only_what_has_flags_is_refused_for_them() {
        let of = |number, flagged| {
            refused(io::Error::from_raw_os_error(number), || "RWF_DSYNC".to_owned(), flagged)
        };
        assert!(matches!(of(libc::EOPNOTSUPP, true), CallError::Unsupported { .. }));
        assert!(matches!(of(libc::EOPNOTSUPP, false), CallError::System(_)));
        assert!(matches!(of(libc::EIO, true), CallError::System(_)));
    }
}
