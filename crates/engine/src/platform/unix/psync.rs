//! psync and pvsync: pread(2)/pwrite(2), preadv(2)/pwritev(2).
#![allow(unsafe_code)]

use super::errno;
use super::offload::{Alone, pool_of};
use super::{CAPS, always, bytes, one_shot};
use crate::platform;
use crate::{EngineDef, Io, OneShot};
use iosonde_base::{Errno, Op};
use std::os::fd::BorrowedFd;

/// Catalogue entry; the default engine.
pub(crate) static PSYNC: EngineDef = EngineDef {
    name: "psync",
    aliases: &[],
    summary: "pread(2), pwrite(2)",
    doc: "pread(2) and pwrite(2): one system call for each I/O, at its offset. The default.",
    caps: CAPS,
    options: None,
    offload: Some(|with, accounting| pool_of(with, accounting, |_| Ok(Alone(Psync)))),
    available: always,
    open: |_, accounting| Ok(one_shot(Psync, accounting)),
};

/// Catalogue entry.
pub(crate) static PVSYNC: EngineDef = EngineDef {
    name: "pvsync",
    aliases: &[],
    summary: "preadv(2), pwritev(2)",
    doc: "preadv(2) and pwritev(2): as psync, with a vector of one.",
    caps: CAPS,
    options: None,
    offload: Some(|with, accounting| pool_of(with, accounting, |_| Ok(Alone(Pvsync)))),
    available: always,
    open: |_, accounting| Ok(one_shot(Pvsync, accounting)),
};

pub(crate) struct Psync;

impl OneShot for Psync {
    #[inline(always)]
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        // Not libc's calls: in a process of many threads they make themselves
        // cancellation points, with two locked instructions each.
        // SAFETY: `Io` promises `len` bytes at `buffer` that are this I/O's
        // alone until the call returns, and the table of files keeps the
        // descriptor open.
        let moved = unsafe {
            let file = BorrowedFd::borrow_raw(io.fd);
            let memory = std::slice::from_raw_parts_mut(io.buffer, io.len as usize);
            match io.op {
                Op::Read => rustix::io::pread(file, memory, io.offset),
                Op::Write => rustix::io::pwrite(file, memory, io.offset),
                _ => return platform::discard(io),
            }
        };
        // Never more than was asked, which is a u32.
        moved.map(|n| n as u32).map_err(errno)
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        platform::explain_trim(op, errno)
    }
}

pub(crate) struct Pvsync;

impl OneShot for Pvsync {
    #[inline]
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        let vector = libc::iovec { iov_base: io.buffer.cast(), iov_len: io.len as usize };
        let offset = io.offset as i64;
        // SAFETY: as for `Psync`; the vector itself lives until the call returns.
        unsafe {
            match io.op {
                Op::Read => bytes(libc::preadv(io.fd, &vector, 1, offset)),
                Op::Write => bytes(libc::pwritev(io.fd, &vector, 1, offset)),
                _ => platform::discard(io),
            }
        }
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        platform::explain_trim(op, errno)
    }
}
