//! splice: data goes between buffer and file through a pipe in the kernel.
#![allow(unsafe_code)]

use super::CAPS;
use super::errno;
use super::falloc::descriptor;
use super::offload::{Alone, pool_of};
use super::{always, shared_one_shot, trim};
use crate::retries::Retries;
use crate::{EngineDef, EngineError, Io, OneShot};
use iosonde_base::{Errno, Op};
use rustix::pipe::{IoSliceRaw, SpliceFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Catalogue entry.
pub(crate) static SPLICE: EngineDef = EngineDef {
    name: "splice",
    aliases: &[],
    summary: "splice(2), vmsplice(2)",
    doc: "splice(2) between a file and a pipe, vmsplice(2) between the pipe and the buffer.",
    caps: CAPS,
    options: None,
    offload: Some(|with, accounting| pool_of(with, accounting, |_| open().map(Alone))),
    available: always,
    open: |_, accounting| Ok(shared_one_shot(open()?, accounting)),
};

/// The engine, with its own pipe.
pub(super) fn open() -> Result<Splice, EngineError> {
    Ok(Splice { pipe: SplicePipe::new()? })
}

/// A pipe that is empty between I/Os.
pub(super) struct SplicePipe {
    out: OwnedFd,
    into: OwnedFd,
}

impl SplicePipe {
    /// An empty one.
    pub(super) fn new() -> Result<SplicePipe, EngineError> {
        let failed = |error| EngineError::system("make a pipe", errno(error));
        let (out, into) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(failed)?;
        Ok(SplicePipe { out, into })
    }

    /// At most `len` bytes from `from`, at `offset` where it has positions,
    /// into the memory at `buffer`: how many.
    ///
    /// # Safety
    /// `len` bytes at `buffer` are the caller's alone.
    pub(super) unsafe fn read(
        &mut self,
        from: BorrowedFd<'_>,
        offset: Option<&mut u64>,
        buffer: *mut u8,
        len: usize,
    ) -> Result<usize, Errno> {
        // What is in the pipe is never more than the buffer has room for.
        let filled =
            rustix::pipe::splice(from, offset, &self.into, None, len, SpliceFlags::empty())
                .map_err(errno)?;
        let mut emptied = 0;
        while emptied < filled {
            // SAFETY: within the `len` bytes that are the caller's; the call
            // copies and is done with them when it returns.
            let moved =
                unsafe { self.transfer(true, buffer.wrapping_add(emptied), filled - emptied) };
            emptied += moved.inspect_err(|_| self.renew())?;
        }
        Ok(filled)
    }

    /// At most `len` bytes from the memory at `buffer` to `to`, at `offset`
    /// where it has positions: how many.
    ///
    /// # Safety
    /// `len` bytes at `buffer` are the caller's. A receiving side that does
    /// not copy them takes what they hold when it looks.
    pub(super) unsafe fn write(
        &mut self,
        to: BorrowedFd<'_>,
        mut offset: Option<&mut u64>,
        buffer: *mut u8,
        len: usize,
    ) -> Result<usize, Errno> {
        // SAFETY: as the caller promised.
        let filled = unsafe { self.transfer(false, buffer, len)? };
        let (mut emptied, mut retries) = (0, Retries::default());
        while emptied < filled {
            let at = offset.as_deref_mut();
            let flags = SpliceFlags::empty();
            match rustix::pipe::splice(&self.out, None, to, at, filled - emptied, flags) {
                Ok(0) => {
                    self.renew();
                    break;
                }
                Ok(moved) => {
                    emptied += moved;
                    retries.moved();
                }
                Err(rustix::io::Errno::INTR) if retries.again(false) => {}
                Err(error) => {
                    self.renew();
                    return if emptied > 0 { Ok(emptied) } else { Err(errno(error)) };
                }
            }
        }
        Ok(emptied)
    }

    /// vmsplice(2) of `len` bytes out of the pipe, or into it.
    ///
    /// # Safety
    /// As for [`SplicePipe::read`] and [`SplicePipe::write`].
    unsafe fn transfer(&self, out: bool, buffer: *mut u8, len: usize) -> Result<usize, Errno> {
        // SAFETY: passed on to the caller.
        unsafe {
            let span = std::slice::from_raw_parts_mut(buffer, len);
            let (end, slice) = if out {
                (self.out.as_fd(), IoSliceRaw::from_slice_mut(span))
            } else {
                (self.into.as_fd(), IoSliceRaw::from_slice(span))
            };
            rustix::pipe::vmsplice(end, &[slice], SpliceFlags::NONBLOCK).map_err(errno)
        }
    }

    /// An error left something in the pipe that belongs to no later I/O.
    #[cold]
    fn renew(&mut self) {
        if let Ok(fresh) = SplicePipe::new() {
            *self = fresh;
        }
    }
}

pub(super) struct Splice {
    pipe: SplicePipe,
}

impl OneShot for Splice {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        if io.op == Op::Trim {
            return trim::discard(io);
        }
        let (mut offset, len) = (io.offset, io.len as usize);
        let mut done = 0;
        // A pipe holds less than a large block.
        while done < len {
            let (at, left) = (io.buffer.wrapping_add(done), len - done);
            // SAFETY: `Io` promises `len` bytes at `buffer` that are this
            // I/O's alone. A file takes what is spliced to it by copying,
            // before the call returns.
            let moved = unsafe {
                match io.op {
                    Op::Read => self.pipe.read(descriptor(io), Some(&mut offset), at, left),
                    _ => self.pipe.write(descriptor(io), Some(&mut offset), at, left),
                }
            };
            match moved {
                Ok(0) => break,
                Ok(moved) => done += moved,
                // The bytes moved before are reported; the next attempt meets the error.
                Err(errno) if done == 0 => return Err(errno),
                Err(_) => break,
            }
        }
        // Never more than was asked, which is a u32.
        Ok(done as u32)
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        match errno.0 {
            libc::EINVAL if op != Op::Trim => {
                Some("the file system or device may not splice, or not at this offset and size")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_to_splice_says_that_it_is_one() {
        let engine = open().unwrap();
        assert!(engine.explain(Op::Read, Errno::EINVAL).unwrap().contains("may not splice"));
        assert_eq!(engine.explain(Op::Trim, Errno::EINVAL), None);
        assert_eq!(engine.explain(Op::Read, Errno::EIO), None);
    }
}
