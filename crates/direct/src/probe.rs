//! What direct I/O on a file needs: whether it is possible, at which alignment,
//! and how that is known.

use std::fs::File;
use std::io;

use crate::platform;

/// How an alignment is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The filesystem or driver states it (Linux 6.1 and later): exact.
    Stated,
    /// The device's logical sector: enough, perhaps more than needed.
    Sector,
    /// A small read was tried and succeeded.
    Tried,
    /// Nothing reports it, for this reason; the figures are safe ones.
    Guessed(&'static str),
}

/// What direct I/O on one file needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectIo {
    /// Whether the file can be read and written past the page cache.
    pub possible: bool,
    /// What the address of a buffer must be a multiple of, in bytes.
    pub memory_alignment: u32,
    /// What offset and length of a write must be multiples of, in bytes; and
    /// of a read, unless it may be less.
    pub offset_alignment: u32,
    /// What offset and length of a read must be multiples of, in bytes. Less
    /// than `offset_alignment` where a filesystem says so (xfs that writes
    /// whole extents anew).
    pub read_offset_alignment: u32,
    /// How the alignments are known.
    pub known: Known,
}

impl DirectIo {
    /// Alignments that satisfy every device we know of.
    pub const SAFE: u32 = 4096;

    /// What direct I/O on `file` needs. The file may be open in any way; it is
    /// not written to.
    ///
    /// # Errors
    /// If the system cannot report what the file is.
    pub fn of(file: &File) -> io::Result<DirectIo> {
        platform::direct_io(file)
    }

    /// Both alignments are `bytes`.
    pub(crate) const fn aligned(bytes: u32, known: Known) -> DirectIo {
        DirectIo {
            possible: true,
            memory_alignment: bytes,
            offset_alignment: bytes,
            read_offset_alignment: bytes,
            known,
        }
    }

    /// No direct I/O on this file.
    pub(crate) const fn impossible(known: Known) -> DirectIo {
        DirectIo { possible: false, ..DirectIo::aligned(DirectIo::SAFE, known) }
    }
}
