//! sync: lseek(2), then read(2) or write(2).
#![allow(unsafe_code)]

use super::{CAPS, bytes};
use super::{always, one_shot};
use crate::platform;
use crate::{EngineDef, Io, OneShot, Opened};
use iosonde_base::{Errno, FileId, Op};
use std::os::fd::RawFd;

/// Catalogue entry.
pub(crate) static SYNC: EngineDef = EngineDef {
    name: "sync",
    aliases: &[],
    summary: "lseek(2), read(2), write(2)",
    doc: "read(2) and write(2), after lseek(2) where the file's position is not the I/O's.",
    caps: CAPS,
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| Ok(one_shot(Sync::new(with.files), accounting)),
};

/// Where each file's position is, so that sequential I/O needs no lseek(2).
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
pub(crate) fn seek(fd: RawFd, offset: u64, position: &mut u64) -> Result<(), Errno> {
    if *position != offset {
        // SAFETY: the call takes numbers only.
        let sought = unsafe { libc::lseek(fd, offset as i64, libc::SEEK_SET) };
        if sought < 0 {
            *position = u64::MAX;
            return Err(std::io::Error::last_os_error().into());
        }
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
        let (buffer, len) = (io.buffer.cast(), io.len as usize);
        // SAFETY: `Io` promises `len` bytes at `buffer` that are this I/O's
        // alone until the call returns.
        let result = unsafe {
            match io.op {
                Op::Read => bytes(libc::read(io.fd, buffer, len)),
                _ => bytes(libc::write(io.fd, buffer, len)),
            }
        };
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
