//! Facts that a plan needs of the machine: what a path is, and how large.
//! Looks, and touches nothing.

use crate::job::FileKind;
use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// What a path is; `None` when nothing is there.
pub fn kind(path: &Path) -> Option<FileKind> {
    let kind = std::fs::metadata(path).ok()?.file_type();
    Some(match kind {
        kind if kind.is_block_device() => FileKind::Block,
        kind if kind.is_char_device() => FileKind::Character,
        _ => FileKind::Regular,
    })
}

/// How many bytes a file or device holds; `None` when that cannot be told.
pub fn bytes(path: &Path, kind: FileKind) -> Option<u64> {
    match kind {
        FileKind::Regular => std::fs::metadata(path).ok().map(|metadata| metadata.len()),
        FileKind::Block => iosonde_direct::device::size(&File::open(path).ok()?).ok(),
        FileKind::Character | FileKind::None => None,
    }
}
