//! Files.

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::counters::Extents;
use crate::platform::unnamed_by_name;

/// A file in more pieces is looked at in part.
const PIECES: usize = 16_384;

/// Data and holes (SEEK_DATA, SEEK_HOLE).
pub(crate) fn extents(file: &File, offset: u64, bytes: u64) -> io::Result<Extents> {
    let end = offset.saturating_add(bytes);
    let mut found = Extents::default();
    let mut at = offset;
    for _ in 0..PIECES {
        if at >= end {
            break;
        }
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(end),
            // Nothing but a hole up to the end.
            Err(Errno::NXIO) => end,
            Err(error) => return Err(error.into()),
        };
        found.hole_bytes += data.saturating_sub(at);
        at = data;
        if at < end {
            let hole = seek(file, SeekFrom::Hole(at))?.min(end);
            found.data_bytes += hole.saturating_sub(at);
            at = hole;
        }
    }
    found.looked_at_bytes = at.min(end) - offset;
    Ok(found)
}

/// No device is held for ourselves alone. The systems themselves refuse to open one for writing that is mounted or
/// part of something.
pub(crate) fn open_alone(path: &Path) -> io::Result<Option<File>> {
    File::open(path).map(|_| None)
}

/// This file: there is no call for its file system.
pub(crate) fn sync_file_system(file: &File) -> io::Result<()> {
    file.sync_all()
}

pub(crate) fn unnamed(folder: &Path) -> io::Result<File> {
    unnamed_by_name(folder)
}

/// No such clock with another number of Linux's.
pub(crate) fn other_clock(_: u32) -> Option<libc::clockid_t> {
    None
}

/// A file without a name cannot be opened again.
pub(crate) fn path_of(_: &File) -> Option<std::path::PathBuf> {
    None
}
