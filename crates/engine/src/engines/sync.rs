//! sync: the position of the file is set where it is not the I/O's, then it is read or written there.

use super::{CAPS, always, one_shot};
use crate::platform::{self, RawFile, position};
use crate::{EngineDef, Io, OneShot, Opened};
use iosonde_base::{Errno, FileId, Op};

/// Catalogue entry.
pub(crate) static SYNC: EngineDef = EngineDef {
    name: "sync",
    aliases: &[],
    summary: position::SUMMARY,
    doc: position::DOC,
    caps: CAPS,
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| Ok(one_shot(Sync::new(with.files), accounting)),
};

/// Where each file's position is, so that sequential I/O needs no call to set it.
struct Sync {
    positions: Vec<u64>,
}

impl Sync {
    fn new(files: u32) -> Sync {
        Sync { positions: vec![u64::MAX; files as usize] }
    }
}

/// Move the file's position to `offset`, if it is elsewhere.
#[inline]
pub(crate) fn seek(file: RawFile, offset: u64, position: &mut u64) -> Result<(), Errno> {
    if *position != offset {
        position::set(file, offset).inspect_err(|_| *position = u64::MAX)?;
    }
    Ok(())
}

impl OneShot for Sync {
    #[inline]
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        if io.op == Op::Trim {
            return platform::discard(io);
        }
        let position = &mut self.positions[io.file.0 as usize];
        seek(io.fd, io.offset, position)?;
        let result = position::transfer(io);
        // After an error it may be anywhere.
        *position = result.map_or(u64::MAX, |n| io.offset + u64::from(n));
        result
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        self.positions[file.file.0 as usize] = 0;
        Ok(())
    }

    fn closing(&mut self, file: FileId) {
        self.positions[file.0 as usize] = u64::MAX;
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        platform::explain_trim(op, errno)
    }
}
