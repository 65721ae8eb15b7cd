//! sync: SetFilePointerEx, then ReadFile or WriteFile.
#![allow(unsafe_code)]

use super::{CAPS, always, done, files, handle, one_shot};
use crate::{EngineDef, Io, OneShot, Opened, platform};
use iosonde_base::{Errno, FileId, Op};
use std::ptr;
use windows_sys::Win32::Foundation::GetLastError;
use windows_sys::Win32::Storage::FileSystem::{FILE_BEGIN, ReadFile, SetFilePointerEx, WriteFile};

/// Catalogue entry.
pub(crate) static SYNC: EngineDef = EngineDef {
    name: "sync",
    aliases: &[],
    summary: "SetFilePointerEx, ReadFile, WriteFile",
    doc: "ReadFile and WriteFile, after SetFilePointerEx where the file's position is not the \
          I/O's.",
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

impl OneShot for Sync {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        if io.op == Op::Trim {
            return platform::discard(io);
        }
        let (position, file) = (&mut self.positions[io.file.0 as usize], handle(io.fd));
        let before = std::mem::replace(position, u64::MAX);
        if before != io.offset {
            let offset = i64::try_from(io.offset).map_err(|_| Errno::EFBIG)?;
            // SAFETY: the call takes numbers, and writes nothing to a null pointer.
            done(unsafe { SetFilePointerEx(file, offset, ptr::null_mut(), FILE_BEGIN) })?;
        }
        let mut moved = 0;
        // SAFETY: `Io` promises `len` bytes at `buffer` that are this I/O's alone until the call
        // returns, and the table of files keeps the file open.
        let answer = unsafe {
            match io.op {
                Op::Read => ReadFile(file, io.buffer, io.len, &raw mut moved, ptr::null_mut()),
                _ => WriteFile(file, io.buffer, io.len, &raw mut moved, ptr::null_mut()),
            }
        };
        if answer == 0 {
            // SAFETY: reads a number of this thread.
            return files::failed(unsafe { GetLastError() });
        }
        *position = io.offset + u64::from(moved);
        Ok(moved)
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
