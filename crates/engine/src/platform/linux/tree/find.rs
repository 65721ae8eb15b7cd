//! Looking for files by name and size, as find(1) does: a directory is listed, and each file
//! whose name matches is looked up.

use crate::engines::tree::{FindMatch, note_found};
use rustix::fs::{AtFlags, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::AsFd;

/// Look through a directory.
pub(super) fn look_through(
    top: impl AsFd,
    path: &CStr,
    room: &mut Vec<u8>,
    wanted: &FindMatch,
) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(top, path, flags, Mode::empty())?;
    room.clear();
    let mut entries = RawDir::new(&dir, room.spare_capacity_mut());
    let (mut examined, mut matched) = (0, 0);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_bytes().first() == Some(&b'.') {
            continue;
        }
        examined += 1;
        if !contains(name.to_bytes(), wanted.name.as_bytes()) {
            continue;
        }
        let found = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        matched += u64::from(wanted.bytes.is_none_or(|bytes| found.st_size as u64 == bytes));
    }
    note_found(examined, matched);
    Ok(())
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    part.is_empty() || name.windows(part.len()).any(|window| window == part)
}
