//! psync: ReadFile and WriteFile, each with its offset.
#![allow(unsafe_code)]

use super::offload::{Alone, pool_of};
use super::{CAPS, always, files, one_shot};
use crate::{EngineDef, Io, OneShot, platform};
use iosonde_base::{Errno, Op};

/// Catalogue entry.
pub(crate) static PSYNC: EngineDef = EngineDef {
    name: "psync",
    aliases: &[],
    summary: "ReadFile, WriteFile at an offset",
    doc: "ReadFile and WriteFile with the offset of the I/O: one system call for each.",
    caps: CAPS,
    options: None,
    offload: Some(|with, accounting| pool_of(with, accounting, |_| Ok(Alone(Psync)))),
    available: always,
    open: |_, accounting| Ok(one_shot(Psync, accounting)),
};

struct Psync;

impl OneShot for Psync {
    #[inline(always)]
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        let writes = match io.op {
            Op::Read => false,
            Op::Write => true,
            _ => return platform::discard(io),
        };
        // SAFETY: `Io` promises `len` bytes at `buffer` that are this I/O's alone until the call
        // returns, and the table of files keeps the file open.
        unsafe { files::transfer(io.fd, writes, (io.buffer, io.len), io.offset) }
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        platform::explain_trim(op, errno)
    }
}
