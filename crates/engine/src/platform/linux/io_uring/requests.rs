//! An I/O as an entry of the submission ring.

use super::UringSettings;
use super::setup::{Mode, RingParts};
use crate::platform::cmdprio::Priorities;
use crate::platform::rw_flags::RwFlags;
use crate::{Io, OpenWith, SyncRangeFlags};
use io_uring::{opcode, squeue, types};
use iosonde_base::{Op, Slot};

/// `BLOCK_URING_CMD_DISCARD` of linux/blkdev.h, _IO(0x12, 0), Linux 6.12.
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;

/// `struct io_uring_sqe` of linux/io_uring.h as reads and writes use it. Those of the crate are
/// built field by field in memory, and then copied to the ring: half as many instructions are
/// enough where all fields are known at once.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct DataEntry {
    opcode: u8,
    flags: u8,
    ioprio: u16,
    fd: i32,
    offset: u64,
    address: u64,
    len: u32,
    rw_flags: i32,
    user_data: u64,
    piece: u16,
    personality: u16,
    file_index: i32,
    address3: u64,
    pad: u64,
}

impl DataEntry {
    #[inline(always)]
    fn entry(self) -> squeue::Entry {
        // SAFETY: the crate's entry is the kernel's structure and nothing else, as is this one: 64
        // bytes without gaps, of which any value is one.
        unsafe { std::mem::transmute::<DataEntry, squeue::Entry>(self) }
    }
}

/// What of an entry does not change from one I/O to the next, and what its
/// memory is: vectors lie here until their request has completed. `PRIORITIES`
/// is whether single I/Os have priorities.
pub(super) struct Requests<const PRIORITIES: bool> {
    fixed_files: bool,
    pub(super) flags: RwFlags,
    priorities: Priorities,
    pieces: Option<RingParts>,
    /// One vector for each slot, unless requests are not vectored.
    vectors: Box<[libc::iovec]>,
    force_async: u32,
    /// Requests until one goes straight to a worker.
    until_async: u32,
    sync_range: SyncRangeFlags,
    /// Of each sync that goes through the ring.
    sync_flags: squeue::Flags,
}

impl<const PRIORITIES: bool> Requests<PRIORITIES> {
    pub(super) fn new(
        with: &OpenWith,
        settings: &UringSettings,
        mode: Mode,
        pieces: Option<RingParts>,
    ) -> Self {
        let no_vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let vectors = if settings.nonvectored { 0 } else { with.depth as usize };
        let flags = RwFlags::default()
            .nowait(settings.nowait)
            .uncached(settings.uncached)
            .atomic(settings.atomic);
        Requests {
            fixed_files: mode.fixed_files,
            flags: if mode.polled { flags.polled() } else { flags },
            priorities: Priorities::new(settings.priorities.as_ref(), with.depth),
            pieces,
            vectors: vec![no_vector; vectors].into(),
            force_async: settings.force_async,
            until_async: settings.force_async,
            sync_range: with.sync_range,
            sync_flags: if settings.drained_syncs {
                squeue::Flags::IO_DRAIN
            } else {
                squeue::Flags::empty()
            },
        }
    }

    /// Whether the buffers are registered with the ring.
    pub(super) fn has_registered_buffers(&self) -> bool {
        self.pieces.is_some()
    }

    /// The priority that the last request of a slot was given.
    pub(super) fn priority(&self, slot: Slot) -> u16 {
        if PRIORITIES { self.priorities.of(slot) } else { 0 }
    }

    /// A read or a write; its completion has the number of the slot.
    #[inline(always)]
    pub(super) fn data(&mut self, slot: Slot, io: &Io) -> squeue::Entry {
        if PRIORITIES {
            self.priorities.draw(slot, io);
        }
        let reads = io.op as u8 == Op::Read as u8;
        let one_of = |read: u8, write: u8| if reads { read } else { write };
        let registered = self.pieces.as_ref().and_then(|pieces| pieces.find(io));
        let (opcode, address, len, piece) =
            match (registered, self.vectors.get_mut(slot.0 as usize)) {
                (Some(piece), _) => {
                    let opcode = one_of(opcode::ReadFixed::CODE, opcode::WriteFixed::CODE);
                    (opcode, io.buffer as u64, io.len, piece)
                }
                (None, Some(vector)) => {
                    *vector = libc::iovec { iov_base: io.buffer.cast(), iov_len: io.len as usize };
                    let address = std::ptr::from_mut(vector) as u64;
                    (one_of(opcode::Readv::CODE, opcode::Writev::CODE), address, 1, 0)
                }
                (None, None) => {
                    let opcode = one_of(opcode::Read::CODE, opcode::Write::CODE);
                    (opcode, io.buffer as u64, io.len, 0)
                }
            };
        DataEntry {
            opcode,
            flags: self.flags().bits(),
            ioprio: self.priority(slot),
            fd: self.fd(io).0,
            offset: io.offset,
            address,
            len,
            rw_flags: self.flags.of(io.op),
            user_data: u64::from(slot.0),
            piece,
            ..DataEntry::default()
        }
        .entry()
    }

    #[inline(always)]
    fn fd(&self, io: &Io) -> types::Fd {
        types::Fd(if self.fixed_files { io.file.0 as i32 } else { io.fd })
    }

    #[inline(always)]
    fn flags(&mut self) -> squeue::Flags {
        let mut flags = squeue::Flags::empty();
        flags.set(squeue::Flags::FIXED_FILE, self.fixed_files);
        if self.force_async > 0 {
            self.until_async -= 1;
            if self.until_async == 0 {
                self.until_async = self.force_async;
                flags |= squeue::Flags::ASYNC;
            }
        }
        flags
    }

    /// A sync or a trim.
    #[cold]
    pub(super) fn special(&mut self, io: &Io) -> squeue::Entry {
        let (fd, flags) = (self.fd(io), self.flags());
        let entry = match io.op {
            Op::Sync => opcode::Fsync::new(fd).build().flags(self.sync_flags),
            Op::DataSync => {
                let sync = opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC);
                sync.build().flags(self.sync_flags)
            }
            Op::SyncRange => {
                let range = opcode::SyncFileRange::new(fd, io.len).offset(io.offset);
                range.flags(self.sync_range.0).build()
            }
            _ => {
                // The length lies where other requests have their `addr3`.
                let mut command = [0; 16];
                command[..8].copy_from_slice(&u64::from(io.len).to_ne_bytes());
                opcode::UringCmd16::new(fd, BLOCK_URING_CMD_DISCARD)
                    .addr(Some(io.offset))
                    .cmd(command)
                    .build()
            }
        };
        entry.flags(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_the_one_that_the_crate_builds() {
        let mut data = [7u8; 64];
        let (offset, len) = (1 << 40, 4096);
        let built = opcode::WriteFixed::new(types::Fixed(5), data.as_mut_ptr(), len, 9);
        let built = built.offset(offset).rw_flags(2).ioprio(0x4001).build();
        let built = built.flags(squeue::Flags::FIXED_FILE | squeue::Flags::ASYNC).user_data(77);
        let ours = DataEntry {
            opcode: opcode::WriteFixed::CODE,
            flags: (squeue::Flags::FIXED_FILE | squeue::Flags::ASYNC).bits(),
            ioprio: 0x4001,
            fd: 5,
            offset,
            address: data.as_mut_ptr() as u64,
            len,
            rw_flags: 2,
            user_data: 77,
            piece: 9,
            ..DataEntry::default()
        };
        assert_eq!(format!("{:?}", ours.entry()), format!("{built:?}"));
        // SAFETY: an entry is 64 bytes, all of which were written.
        let bytes = |entry| unsafe { std::mem::transmute::<squeue::Entry, [u8; 64]>(entry) };
        assert_eq!(bytes(ours.entry()), bytes(built));
    }
}
