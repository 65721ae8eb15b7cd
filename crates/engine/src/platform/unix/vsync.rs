//! vsync: lseek(2), then readv(2) or writev(2) of neighbours that go down together.
#![allow(unsafe_code)]

use super::{CAPS, bytes};
use super::{always, shared_queued};
use crate::engines::sync::seek;
use crate::platform;
use crate::{Caps, EngineDef, Io, Opened, Queued, Wanted};
use iosonde_base::{Completion, Errno, FileId, Op, Slot};
use std::os::fd::RawFd;

/// Catalogue entry.
pub(crate) static VSYNC: EngineDef = EngineDef {
    name: "vsync",
    aliases: &[],
    summary: "readv(2), writev(2), neighbours joined",
    doc: "readv(2) and writev(2): I/Os that go down together (iodepth_batch) and follow on one \
          another in a file become one system call.",
    caps: Caps { sync: false, ..CAPS },
    options: None,
    offload: None,
    available: always,
    open: |with, accounting| {
        Ok(shared_queued(Vsync::new(with.files, with.depth), with.depth, accounting))
    },
};

/// The most that one readv(2) takes: UIO_MAXIOV of the kernel.
const VECTOR: usize = 1024;

/// I/Os that follow on one another and have not gone down yet.
struct Vsync {
    /// Where each file's position is.
    positions: Vec<u64>,
    slots: Vec<Slot>,
    parts: Vec<libc::iovec>,
    op: Op,
    file: FileId,
    fd: RawFd,
    start: u64,
    end: u64,
    done: Vec<Completion>,
}

impl Vsync {
    fn new(files: u32, depth: u32) -> Vsync {
        let depth = depth as usize;
        Vsync {
            positions: vec![u64::MAX; files as usize],
            slots: Vec::with_capacity(depth),
            parts: Vec::with_capacity(depth),
            op: Op::Read,
            file: FileId(0),
            fd: -1,
            start: 0,
            end: 0,
            done: Vec::with_capacity(depth),
        }
    }

    fn follows(&self, io: &Io) -> bool {
        (self.op, self.file, self.end) == (io.op, io.file, io.offset) && self.parts.len() < VECTOR
    }

    /// Do what was collected. Each part gets its own share of the result; what
    /// a short result leaves untouched is asked for again, so that each part
    /// is answered for itself.
    fn flush(&mut self) {
        let mut first = 0;
        while first < self.parts.len() {
            let result = self.transfer(first);
            match result {
                Ok(n) if n > 0 => first = self.share(first, n),
                // An error or the end of the file meets the first part.
                result => {
                    self.start += self.parts[first].iov_len as u64;
                    self.done.push(Completion { slot: self.slots[first], result });
                    first += 1;
                }
            }
        }
        self.parts.clear();
        self.slots.clear();
    }

    /// Give `n` bytes to the parts from `first` on; the first part that is
    /// still to be done.
    fn share(&mut self, first: usize, n: u32) -> usize {
        let mut left = n;
        let mut at = first;
        while left > 0 {
            // A part is as long as an `Io`, which is a u32.
            let len = self.parts[at].iov_len as u32;
            let moved = left.min(len);
            self.done.push(Completion { slot: self.slots[at], result: Ok(moved) });
            self.start += u64::from(len);
            left -= moved;
            at += 1;
        }
        at
    }

    fn transfer(&mut self, first: usize) -> Result<u32, Errno> {
        let position = &mut self.positions[self.file.0 as usize];
        seek(self.fd, self.start, position)?;
        let parts = &self.parts[first..];
        let count = parts.len() as libc::c_int;
        // SAFETY: each part is the buffer of an I/O that was pushed and has not
        // come back, so it is this engine's alone until its completion is
        // handed out; the vector lives until the call returns.
        let result = unsafe {
            match self.op {
                Op::Read => bytes(libc::readv(self.fd, parts.as_ptr(), count)),
                _ => bytes(libc::writev(self.fd, parts.as_ptr(), count)),
            }
        };
        *position = result.map_or(u64::MAX, |n| self.start + u64::from(n));
        result
    }
}

impl Queued for Vsync {
    fn push(&mut self, slot: Slot, io: &Io) {
        if io.op == Op::Trim {
            self.flush();
            self.done.push(Completion { slot, result: platform::discard(io) });
            return;
        }
        if !self.follows(io) {
            self.flush();
        }
        if self.parts.is_empty() {
            (self.op, self.file, self.fd, self.start) = (io.op, io.file, io.fd, io.offset);
        }
        self.end = io.offset + u64::from(io.len);
        self.slots.push(slot);
        self.parts.push(libc::iovec { iov_base: io.buffer.cast(), iov_len: io.len as usize });
    }

    fn submit(&mut self) -> Result<(), Errno> {
        self.flush();
        Ok(())
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let count = self.done.len().min(wanted.max as usize);
        done.extend(self.done.drain(..count));
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Nanos;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsRawFd;

    fn temporary(name: &str) -> std::fs::File {
        let path =
            std::env::temp_dir().join(format!("iosonde-vsync-{name}-{}", std::process::id()));
        let file =
            std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    fn io(fd: RawFd, op: Op, offset: u64, buffer: &mut [u8]) -> Io {
        let (buffer, len) = (buffer.as_mut_ptr(), buffer.len() as u32);
        Io { offset, buffer, len, op, file: FileId(0), fd }
    }

    fn reap_all(engine: &mut Vsync) -> Vec<(u32, Result<u32, Errno>)> {
        let mut done = Vec::new();
        engine.reap(Wanted { min: 1, max: 64, patience: Nanos::NEVER }, &mut done).unwrap();
        done.iter().map(|done| (done.slot.0, done.result)).collect()
    }

    #[test]
    fn neighbours_are_one_vector_and_each_gets_its_share() {
        let mut file = temporary("share");
        file.write_all(&[7; 10]).unwrap();
        let mut buffers = vec![vec![0; 4]; 4];
        let mut engine = Vsync::new(1, 4);
        for (slot, buffer) in buffers.iter_mut().enumerate() {
            let io = io(file.as_raw_fd(), Op::Read, 4 * slot as u64, buffer);
            engine.push(Slot(slot as u32), &io);
        }
        assert_eq!(engine.parts.len(), 4, "one vector");
        engine.submit().unwrap();
        // Ten bytes: two whole parts, a short one, and one past the end.
        let shares = reap_all(&mut engine);
        assert_eq!(shares, [(0, Ok(4)), (1, Ok(4)), (2, Ok(2)), (3, Ok(0))]);
        assert_eq!(buffers[2], [7, 7, 0, 0]);
    }

    #[test]
    fn another_place_or_direction_starts_another_vector() {
        let mut file = temporary("other");
        file.write_all(&[1; 16]).unwrap();
        let fd = file.as_raw_fd();
        let mut engine = Vsync::new(1, 4);
        let mut buffers = vec![vec![9; 4]; 3];
        let [a, b, c] = &mut buffers[..] else { unreachable!() };
        engine.push(Slot(0), &io(fd, Op::Read, 8, a));
        engine.push(Slot(1), &io(fd, Op::Write, 12, b));
        assert_eq!(engine.parts.len(), 1);
        engine.push(Slot(2), &io(fd, Op::Write, 0, c));
        engine.submit().unwrap();
        assert_eq!(reap_all(&mut engine), [(0, Ok(4)), (1, Ok(4)), (2, Ok(4))]);
        let mut now = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut now).unwrap();
        assert_eq!(now, [9, 9, 9, 9, 1, 1, 1, 1, 1, 1, 1, 1, 9, 9, 9, 9]);
        assert_eq!(buffers[0], [1; 4]);
    }

    #[test]
    fn an_error_meets_each_io_it_concerns() {
        let mut engine = Vsync::new(1, 2);
        let (mut a, mut b) = ([0; 4], [0; 4]);
        engine.push(Slot(0), &io(-1, Op::Read, 0, &mut a));
        engine.push(Slot(1), &io(-1, Op::Read, 4, &mut b));
        engine.submit().unwrap();
        let bad = Err(Errno::EBADF);
        assert_eq!(reap_all(&mut engine), [(0, bad), (1, bad)]);
    }
}
