//! Kinds and sizes of paths.
//! Looks, and touches nothing.

use crate::job::FileKind;
use iosonde_direct::sysfs;
use iosonde_sys::files::status;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Kind of a path; `None` when nothing is there.
pub fn kind(path: &Path) -> Option<FileKind> {
    let kind = status(path).ok()?.file_type();
    Some(match kind {
        kind if kind.is_block_device() => FileKind::Block,
        kind if kind.is_char_device() => FileKind::Character,
        _ => FileKind::Regular,
    })
}

/// Why a path can hold no data of a job: pipes and sockets have no offsets, and
/// a job may lay out or unlink nothing but a file. `None` when it can.
pub fn holds_no_data(path: &Path) -> Option<&'static str> {
    let kind = status(path).ok()?.file_type();
    match kind {
        kind if kind.is_fifo() => Some("it is a pipe, which has neither size nor offsets"),
        kind if kind.is_socket() => Some("it is a socket, which has neither size nor offsets"),
        _ => None,
    }
}

/// How many bytes a file or device holds; `None` when that is unknown.
pub fn bytes(path: &Path, kind: FileKind) -> Option<u64> {
    match kind {
        FileKind::Regular => status(path).ok().map(|metadata| metadata.len()),
        FileKind::Block => iosonde_direct::device::size(&File::open(path).ok()?).ok(),
        FileKind::Character | FileKind::None => None,
    }
}

/// The block device of this number; `None` when this machine has none.
pub fn device_path(major: u32, minor: u32) -> Option<PathBuf> {
    let link =
        std::fs::read_link(sysfs::root().join(format!("sys/dev/block/{major}:{minor}"))).ok()?;
    // The kernel writes a slash in a device's name as an exclamation mark.
    let name = link.file_name()?.to_str()?.replace('!', "/");
    let path = Path::new("/dev").join(name);
    (kind(&path) == Some(FileKind::Block)).then_some(path)
}
