//! Calls that only Linux has, as the other systems answer them.

use std::fs::File;
use std::io;

use super::{read_at, write_at};
use crate::durability::{CallError, ReadCaching, SyncRange, WriteFlags};

/// Whether the descriptor is open for direct I/O.
pub(crate) fn is_direct(file: &File) -> bool {
    crate::honoured(file).is_ok_and(|found| found.overall().verdict != crate::Tristate::No)
}

pub(crate) fn sync_range(_: &File, _: u64, _: u64, _: SyncRange) -> Result<(), CallError> {
    Err(CallError::unsupported("sync_file_range(2)", "it is a call of Linux"))
}

pub(crate) fn write_with(
    file: &File,
    data: &[u8],
    offset: u64,
    flags: WriteFlags,
) -> Result<usize, CallError> {
    if flags != WriteFlags::new() {
        return Err(CallError::unsupported(
            flags.names(),
            "flags of single writes are for Linux only; open the file synchronous instead",
        ));
    }
    Ok(write_at(file, data, offset)?)
}

pub(crate) fn read_with(
    file: &File,
    data: &mut [u8],
    offset: u64,
    keep: ReadCaching,
) -> Result<usize, CallError> {
    if keep == ReadCaching::Dropped {
        return Err(CallError::unsupported("RWF_DONTCACHE", "it is a flag of Linux"));
    }
    Ok(read_at(file, data, offset)?)
}

/// A file of /proc or /sys.
pub(crate) fn kernel_text(path: &str) -> io::Result<String> {
    let words = format!("this system has no /{path}, which is a file of Linux");
    Err(io::Error::new(io::ErrorKind::Unsupported, words))
}
