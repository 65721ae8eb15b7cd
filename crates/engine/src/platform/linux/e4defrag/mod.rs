//! e4defrag: the blocks of a file are exchanged with those of a donor, as
//! e4defrag(8) does.
#![allow(unsafe_code)]

mod options;

use super::CAPS;
use super::errno;
use super::falloc::descriptor;
use super::{always, shared_one_shot};
use crate::{Caps, EngineDef, EngineError, Io, OneShot, OpenWith, Opened};
use iosonde_base::{Errno, Op};
use options::{E4DefragSettings, OPTIONS};
use rustix::fs::FallocateFlags;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, RawFd};

/// Catalogue entry.
pub(crate) static E4DEFRAG: EngineDef = EngineDef {
    name: "e4defrag",
    aliases: &[],
    summary: "exchanges blocks of a file with those of a donor, on ext4",
    doc: "EXT4_IOC_MOVE_EXT: each write exchanges the blocks of its range with those of the file \
          donorname, whose data they keep. No data of the job is written.",
    caps: Caps { no_extend: true, trim: false, ..CAPS },
    options: Some(&OPTIONS),
    offload: None,
    available: always,
    open: |with, accounting| Ok(shared_one_shot(E4Defrag::new(with)?, accounting)),
};

struct E4Defrag {
    donor: File,
    /// Bytes of a block of the donor's file system.
    block: u64,
    inplace: bool,
}

impl E4Defrag {
    fn new(with: &OpenWith) -> Result<E4Defrag, EngineError> {
        let E4DefragSettings { donor, inplace } = with.settings.of();
        if donor.as_os_str().is_empty() {
            return Err(EngineError {
                message: "'donorname' options required".to_owned(),
                help: Some("set donorname= to a file on the file system of the job's".to_owned()),
                errno: Errno::EINVAL,
            });
        }
        let failed = |error: std::io::Error| {
            EngineError::system(&format!("open the donor {}", donor.display()), error.into())
        };
        let mut open = OpenOptions::new();
        open.read(true).write(true).create(true).truncate(false);
        let file = open.open(&donor).map_err(failed)?;
        let block = rustix::fs::fstat(&file).map_err(|error| failed(error.into()))?.st_blksize;
        // A file system reports at least 512.
        Ok(E4Defrag { donor: file, block: (block as u64).max(1), inplace })
    }

    /// Exchange the blocks of a range, and count the bytes of those exchanged.
    fn exchange(&self, io: &Io) -> Result<u64, Errno> {
        let first = io.offset / self.block;
        let blocks = (io.offset + u64::from(io.len)).div_ceil(self.block) - first;
        if self.inplace {
            let (start, bytes) = (first * self.block, blocks * self.block);
            let flags = FallocateFlags::empty();
            rustix::fs::fallocate(&self.donor, flags, start, bytes).map_err(errno)?;
        }
        // Lives as long as the call.
        let file = descriptor(io).as_raw_fd();
        let moved = move_extents(file, self.donor.as_raw_fd(), first, blocks);
        if self.inplace {
            rustix::fs::ftruncate(&self.donor, 0).map_err(errno)?;
        }
        moved.map(|blocks| blocks * self.block)
    }
}

impl OneShot for E4Defrag {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        if io.op != Op::Write {
            return Err(Errno::EINVAL);
        }
        let exchanged = match self.exchange(io) {
            // Pages are dirty, or just being written: they are waited for once.
            Err(Errno::EBUSY) => {
                rustix::fs::fdatasync(descriptor(io)).map_err(errno)?;
                self.exchange(io)
            }
            other => other,
        };
        // At most the length of the I/O, which fits.
        exchanged.map(|bytes| bytes.min(io.len.into()) as u32)
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        if self.inplace || file.bytes == 0 {
            return Ok(());
        }
        let flags = FallocateFlags::empty();
        rustix::fs::fallocate(&self.donor, flags, 0, file.bytes).map_err(errno)
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        match errno.0 {
            libc::EINVAL if op != Op::Write => Some("e4defrag only writes: use rw=write"),
            libc::EBUSY => Some("pages of the range are in use"),
            libc::ENOTTY | libc::EOPNOTSUPP => {
                Some("only ext4 with extents exchanges blocks of files")
            }
            libc::ENODATA => Some("the range has no blocks: it is a hole"),
            libc::EXDEV => Some("the donor is on another file system"),
            _ => None,
        }
    }
}

/// struct move_extent of the kernel's fs/ext4/ext4.h: all but the descriptor in
/// blocks.
#[repr(C)]
struct MoveExtent {
    reserved: u32,
    donor_fd: u32,
    orig_start: u64,
    donor_start: u64,
    len: u64,
    moved_len: u64,
}

/// _IOWR('f', 15, struct move_extent): the size of the structure in bits 16 to 29.
const EXT4_IOC_MOVE_EXT: u64 = 0xc000_660f | (size_of::<MoveExtent>() as u64) << 16;

/// How many of the blocks from `first` on were exchanged with the donor's.
fn move_extents(file: RawFd, donor: RawFd, first: u64, blocks: u64) -> Result<u64, Errno> {
    let mut range = MoveExtent {
        reserved: 0,
        // An open descriptor is not negative.
        donor_fd: donor as u32,
        orig_start: first,
        donor_start: first,
        len: blocks,
        moved_len: 0,
    };
    // SAFETY: the kernel reads and writes one structure of this layout, which
    // lives beyond the call; both descriptors are open.
    let result = unsafe { libc::ioctl(file, EXT4_IOC_MOVE_EXT as _, &raw mut range) };
    if result < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(range.moved_len)
}
