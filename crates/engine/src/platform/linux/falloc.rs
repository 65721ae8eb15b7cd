//! falloc: space is given to and taken from a file; no data moves.

use super::CAPS;
use super::errno;
use super::offload::{Alone, pool_of};
use super::{always, shared_one_shot};
use crate::{Caps, EngineDef, Io, OneShot};
use iosonde_base::{Errno, Op};
use rustix::fs::FallocateFlags;
use std::os::fd::BorrowedFd;

/// Catalogue entry.
pub(crate) static FALLOC: EngineDef = EngineDef {
    name: "falloc",
    aliases: &[],
    summary: "fallocate(2) in place of I/O",
    doc: "fallocate(2): a write gives the block space, a read does so without growing the file, \
          a trim punches a hole.",
    caps: Caps { changes: true, ..CAPS },
    options: None,
    offload: Some(|with, accounting| pool_of(with, accounting, |_| Ok(Alone(Falloc)))),
    available: always,
    open: |_, accounting| Ok(shared_one_shot(Falloc, accounting)),
};

pub(super) struct Falloc;

impl OneShot for Falloc {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        let flags = match io.op {
            Op::Read => FallocateFlags::KEEP_SIZE,
            Op::Trim => FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE,
            _ => FallocateFlags::empty(),
        };
        rustix::fs::fallocate(descriptor(io), flags, io.offset, io.len.into()).map_err(errno)?;
        Ok(io.len)
    }

    fn explain(&self, _: Op, errno: Errno) -> Option<&'static str> {
        match errno.0 {
            libc::EOPNOTSUPP => Some("the file system cannot allocate or punch by fallocate(2)"),
            libc::ENODEV => Some("space is only given to regular files and block devices"),
            _ => None,
        }
    }
}

/// The descriptor of an I/O's file.
#[allow(unsafe_code)]
pub(super) fn descriptor(io: &Io) -> BorrowedFd<'_> {
    assert!(io.fd >= 0, "the loop opens a file before its first I/O");
    // SAFETY: it is open for as long as the I/O: the job's table of files
    // owns it and closes it only between I/Os.
    unsafe { BorrowedFd::borrow_raw(io.fd) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_takes_no_space() {
        let words = |errno| Falloc.explain(Op::Write, Errno(errno));
        assert!(words(libc::EOPNOTSUPP).unwrap().contains("cannot allocate"));
        assert!(words(libc::ENODEV).unwrap().contains("regular files"));
        assert_eq!(words(libc::EIO), None);
    }
}
