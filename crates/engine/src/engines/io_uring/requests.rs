//! An I/O as an entry of the submission ring.

use super::UringSettings;
use super::setup::{Mode, RingParts};
use crate::engines::cmdprio::Priorities;
use crate::engines::rw_flags::RwFlags;
use crate::{Io, OpenWith, SyncRangeFlags};
use io_uring::{opcode, squeue, types};
use iosonde_base::{Op, Slot};

/// `BLOCK_URING_CMD_DISCARD` of linux/blkdev.h, _IO(0x12, 0), Linux 6.12.
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;

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
        let (fd, flags) = (self.fd(io), self.flags());
        self.read_or_write(slot, io, fd).flags(flags).user_data(u64::from(slot.0))
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

    #[inline(always)]
    fn read_or_write(&mut self, slot: Slot, io: &Io, fd: types::Fd) -> squeue::Entry {
        let (flags, priority) = (self.flags.of(io.op), self.priority(slot));
        let reads = io.op as u8 == Op::Read as u8;
        if let Some(piece) = self.pieces.as_ref().and_then(|pieces| pieces.find(io)) {
            return if reads {
                let read = opcode::ReadFixed::new(fd, io.buffer, io.len, piece);
                read.offset(io.offset).rw_flags(flags).ioprio(priority).build()
            } else {
                let write = opcode::WriteFixed::new(fd, io.buffer, io.len, piece);
                write.offset(io.offset).rw_flags(flags).ioprio(priority).build()
            };
        }
        match self.vectors.get_mut(slot.0 as usize) {
            None if reads => {
                let read = opcode::Read::new(fd, io.buffer, io.len);
                read.offset(io.offset).rw_flags(flags).ioprio(priority).build()
            }
            None => {
                let write = opcode::Write::new(fd, io.buffer, io.len);
                write.offset(io.offset).rw_flags(flags).ioprio(priority).build()
            }
            Some(vector) => {
                *vector = libc::iovec { iov_base: io.buffer.cast(), iov_len: io.len as usize };
                if reads {
                    let read = opcode::Readv::new(fd, vector, 1);
                    read.offset(io.offset).rw_flags(flags).ioprio(priority).build()
                } else {
                    let write = opcode::Writev::new(fd, vector, 1);
                    write.offset(io.offset).rw_flags(flags).ioprio(priority).build()
                }
            }
        }
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
