//! io_uring: requests and completions in rings shared with the kernel.
#![allow(unsafe_code)]

mod options;
mod setup;

use super::cmdprio::Priorities;
use super::offload::{OneInQueue, pool_of};
use super::psync::CAPS;
use super::rw_flags::RwFlags;
use super::{queued, trim};
use crate::sync_call;
use crate::{Caps, EngineDef, EngineError, Io, OpenWith, Opened, Queued, SyncRangeFlags};
use io_uring::{EnterFlags, IoUring, Submitter, opcode, squeue, types};
use iosonde_base::{Completion, Errno, FileId, Nanos, Op, Planned, Slot};
use options::OPTIONS;
use setup::{Mode, RingParts};
use std::ptr::NonNull;

pub use options::UringSettings;

/// Catalogue entry.
pub(crate) static IO_URING: EngineDef = EngineDef {
    name: "io_uring",
    aliases: &[],
    summary: "Linux io_uring",
    doc: "io_uring(7): requests and completions in rings that are shared with the kernel. \
          Asynchronous for buffered I/O too.",
    caps: Caps { sync: false, atomic: true, slat: true, ..CAPS },
    options: Some(&OPTIONS),
    offload: Some(|with, accounting| {
        pool_of(with, accounting, |with| Uring::<false>::new(with).map(OneInQueue::new))
    }),
    available: setup::available,
    open: |with, accounting| {
        Ok(match with.settings.sets_priorities() {
            false => queued(Uring::<false>::new(with)?, with.depth, accounting),
            true => queued(Uring::<true>::new(with)?, with.depth, accounting),
        })
    },
};

/// `BLOCK_URING_CMD_DISCARD` of linux/blkdev.h, _IO(0x12, 0), Linux 6.12.
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;

/// The ring, on the heap and at rest there, and what borrows from it. It is
/// made on the job's thread and never leaves it.
struct MappedRings {
    ring: NonNull<IoUring>,
    submitter: Submitter<'static>,
}

impl MappedRings {
    fn new(ring: IoUring) -> MappedRings {
        let ring = NonNull::from(Box::leak(Box::new(ring)));
        // SAFETY: the box is given back in `drop`, after the last use of the
        // submitter, which does nothing when it is dropped itself.
        let submitter = unsafe { ring.as_ref() }.submitter();
        MappedRings { ring, submitter }
    }

    #[inline(always)]
    fn ring(&self) -> &IoUring {
        // SAFETY: valid until `drop`; only shared borrows are ever made of it.
        unsafe { self.ring.as_ref() }
    }
}

impl Drop for MappedRings {
    fn drop(&mut self) {
        // SAFETY: leaked in `new`; nothing borrows from it any more.
        drop(unsafe { Box::from_raw(self.ring.as_ptr()) });
    }
}

/// The engine. `PRIORITIES` is whether single I/Os have priorities.
pub(super) struct Uring<const PRIORITIES: bool> {
    ring: MappedRings,
    mode: Mode,
    flags: RwFlags,
    priorities: Priorities,
    pieces: Option<RingParts>,
    /// One vector for each slot, unless requests are not vectored.
    vectors: Box<[libc::iovec]>,
    /// What was pushed in each slot, should it have to be pushed again.
    ios: Box<[Io]>,
    /// What was done without the ring.
    ready: Vec<Completion>,
    /// In the ring or in the kernel.
    outstanding: u32,
    force_async: u32,
    /// Requests until one goes straight to a worker.
    until_async: u32,
    sync_range: SyncRangeFlags,
    /// Of each sync that goes through the ring.
    sync_flags: squeue::Flags,
    /// The kernel discards through the ring, as far as we know.
    queues_trims: bool,
}

impl<const PRIORITIES: bool> Uring<PRIORITIES> {
    pub(super) fn new(with: &OpenWith) -> Result<Self, EngineError> {
        let settings: UringSettings = with.settings.of();
        let (ring, mode) = setup::build(with, &settings)?;
        let mut ring = MappedRings::new(ring);
        setup::register_ring(&mut ring.submitter);
        let pieces = match settings.fixedbufs {
            true => Some(setup::register_buffers(&ring.submitter, with.memory)?),
            false => None,
        };
        if mode.fixed_files {
            setup::register_files(&ring.submitter, with.files)?;
        }
        let depth = with.depth as usize;
        let no_vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let no_io = Io {
            offset: 0,
            buffer: std::ptr::null_mut(),
            len: 0,
            op: Op::Read,
            file: FileId(0),
            fd: -1,
        };
        let flags = RwFlags::default()
            .nowait(settings.nowait)
            .uncached(settings.uncached)
            .atomic(settings.atomic);
        Ok(Uring {
            ring,
            mode,
            priorities: Priorities::new(settings.priorities.as_ref(), with.depth),
            flags: if mode.polled { flags.polled() } else { flags },
            pieces,
            vectors: vec![no_vector; if settings.nonvectored { 0 } else { depth }].into(),
            ios: vec![no_io; depth].into(),
            ready: Vec::with_capacity(depth),
            outstanding: 0,
            force_async: settings.force_async,
            until_async: settings.force_async,
            sync_range: with.sync_range,
            sync_flags: match settings.drained_syncs {
                true => squeue::Flags::IO_DRAIN,
                false => squeue::Flags::empty(),
            },
            queues_trims: !mode.polled,
        })
    }

    /// Put the request of a slot in the submission ring.
    #[inline]
    fn enqueue(&mut self, slot: Slot, io: &Io) {
        let mut flags = squeue::Flags::empty();
        let fd = match self.mode.fixed_files {
            true => {
                flags |= squeue::Flags::FIXED_FILE;
                types::Fd(io.file.0 as i32)
            }
            false => types::Fd(io.fd),
        };
        if self.force_async > 0 {
            self.until_async -= 1;
            if self.until_async == 0 {
                self.until_async = self.force_async;
                flags |= squeue::Flags::ASYNC;
            }
        }
        let entry = self.entry(slot, io, fd).flags(flags).user_data(u64::from(slot.0));
        // SAFETY: one thread has the ring, and no other view of its submission
        // side exists now. The buffer is the slot's alone until its
        // completion is handed out; a vector stays in `vectors` as long.
        let pushed = unsafe { self.ring.ring().submission_shared().push(&entry) };
        match pushed {
            Ok(()) => self.outstanding += 1,
            Err(_) => self.enqueue_later(slot, &entry),
        }
    }

    /// The kernel's thread says only after a round of submissions how far it
    /// came, when the first of them may be long done: wait for the room that
    /// there will be.
    #[cold]
    #[inline(never)]
    fn enqueue_later(&mut self, slot: Slot, entry: &squeue::Entry) {
        while self.mode.kernel_thread {
            let flags = EnterFlags::SQ_WAIT | EnterFlags::SQ_WAKEUP;
            // SAFETY: the flags take no argument.
            let waited =
                unsafe { self.ring.submitter.enter::<libc::sigset_t>(0, 0, flags.bits(), None) };
            let fatal = waited.is_err_and(|error| error.raw_os_error() != Some(libc::EINTR));
            // SAFETY: as in `enqueue`.
            if unsafe { self.ring.ring().submission_shared().push(entry) }.is_ok() {
                self.outstanding += 1;
                return;
            }
            if fatal {
                break;
            }
        }
        // Without such a thread the ring has room for the depth.
        self.ready.push(Completion { slot, result: Err(Errno(libc::EBUSY)) });
    }

    #[inline(always)]
    fn entry(&mut self, slot: Slot, io: &Io, fd: types::Fd) -> squeue::Entry {
        let (offset, len) = (io.offset, io.len);
        match io.op {
            Op::Read | Op::Write => self.data_entry(slot, io, fd),
            Op::Sync => opcode::Fsync::new(fd).build().flags(self.sync_flags),
            Op::DataSync => {
                let sync = opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC);
                sync.build().flags(self.sync_flags)
            }
            Op::SyncRange => {
                let flags = self.sync_range.0;
                opcode::SyncFileRange::new(fd, len).offset(offset).flags(flags).build()
            }
            _ => {
                // The length lies where other requests have their `addr3`.
                let mut command = [0; 16];
                command[..8].copy_from_slice(&u64::from(len).to_ne_bytes());
                opcode::UringCmd16::new(fd, BLOCK_URING_CMD_DISCARD)
                    .addr(Some(offset))
                    .cmd(command)
                    .build()
            }
        }
    }

    #[inline(always)]
    fn data_entry(&mut self, slot: Slot, io: &Io, fd: types::Fd) -> squeue::Entry {
        let flags = self.flags.of(io.op);
        let priority = if PRIORITIES { self.priorities.of(slot) } else { 0 };
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

    /// How many requests the kernel has not taken from the ring yet.
    #[inline]
    fn unsubmitted(&self) -> u32 {
        // SAFETY: as in `enqueue`.
        unsafe { self.ring.ring().submission_shared() }.len() as u32
    }

    /// Enter the kernel: submit what is in the ring and wait for `min`.
    fn enter(&mut self, min: u32, patience: Option<Nanos>) -> Result<(), Errno> {
        let submit = self.unsubmitted();
        let mut flags = self.mode.enter;
        if min > 0 {
            flags |= EnterFlags::GETEVENTS;
        }
        if self.mode.kernel_thread && self.needs_wakeup() {
            flags |= EnterFlags::SQ_WAKEUP;
        }
        let timeout = patience.filter(|_| min > 0 && self.mode.timeouts).map(|patience| {
            let (secs, nanos) = (patience.0 / 1_000_000_000, patience.0 % 1_000_000_000);
            types::Timespec::new().sec(secs).nsec(nanos as u32)
        });
        let submitter = &self.ring.submitter;
        // SAFETY: the flags go with the arguments; the timeout, and what points
        // to it, live until the call returns.
        let entered = unsafe {
            match &timeout {
                Some(timeout) => {
                    let arguments = types::SubmitArgs::new().timespec(timeout);
                    let flags = (flags | EnterFlags::EXT_ARG).bits();
                    submitter.enter(submit, min, flags, Some(&arguments))
                }
                None => submitter.enter::<libc::sigset_t>(submit, min, flags.bits(), None),
            }
        };
        match entered.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO)) {
            Ok(_) => Ok(()),
            // Time is up, a signal came, or there is no room until some of
            // what is in flight is collected: the loop comes again.
            Err(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(()),
            Err(errno) => Err(Errno(errno)),
        }
    }

    fn needs_wakeup(&self) -> bool {
        // SAFETY: as in `enqueue`.
        unsafe { self.ring.ring().submission_shared() }.need_wakeup()
    }

    /// Move completions from the ring to `done`, up to `max` in it.
    #[inline]
    fn take(&mut self, max: u32, done: &mut Vec<Completion>) {
        if !self.ready.is_empty() {
            let count = self.ready.len().min(max as usize - done.len());
            done.extend(self.ready.drain(..count));
        }
        let first = done.len();
        let mut again = false;
        // SAFETY: one thread has the ring; no other view of its completion
        // side exists while this one does.
        let mut completions = unsafe { self.ring.ring().completion_shared() };
        while done.len() < max as usize {
            let Some(entry) = completions.next() else { break };
            self.outstanding -= 1;
            let slot = Slot(entry.user_data() as u32);
            match entry.result() {
                // Never more than was asked, which is a u32.
                moved if moved >= 0 => done.push(Completion { slot, result: Ok(moved as u32) }),
                error => {
                    let result = Err(Errno(-error));
                    if self.ios[slot.0 as usize].op == Op::Trim || self.passing(-error) {
                        // Looked at below, when the ring is not borrowed.
                        again = true;
                    }
                    done.push(Completion { slot, result });
                }
            }
        }
        drop(completions);
        if again {
            self.second_chance(first, done);
        }
    }

    /// An error that says nothing of the I/O: it was interrupted, or asked to
    /// come again though nobody forbade it to wait.
    fn passing(&self, errno: i32) -> bool {
        errno == libc::EINTR || errno == libc::EAGAIN && !self.mode.nowait
    }

    /// From `first` on, push again what failed for a passing reason, and do the
    /// trims here that the kernel does not do through the ring.
    #[cold]
    fn second_chance(&mut self, first: usize, done: &mut Vec<Completion>) {
        let mut at = first;
        while at < done.len() {
            let Completion { slot, result } = done[at];
            let io = self.ios[slot.0 as usize];
            match result {
                Err(errno) if self.passing(errno.0) => {
                    self.enqueue(slot, &io);
                    done.swap_remove(at);
                    continue;
                }
                Err(Errno(libc::EOPNOTSUPP | libc::EINVAL | libc::ENOTTY)) if io.op == Op::Trim => {
                    self.queues_trims = false;
                    done[at].result = trim::discard(&io);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// What the ring cannot do: syncs while it polls, and trims on kernels that
    /// do not know them there.
    #[cold]
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        if io.op == Op::Trim {
            return trim::discard(io);
        }
        let entry = Planned { offset: io.offset, len: io.len, file: io.file, op: io.op };
        sync_call::sync(&entry, io.fd, self.sync_range).map(|()| 0)
    }
}

impl<const PRIORITIES: bool> Queued for Uring<PRIORITIES> {
    const QUEUES_SYNCS: bool = true;

    #[inline]
    fn push(&mut self, slot: Slot, io: &Io) {
        self.ios[slot.0 as usize] = *io;
        if PRIORITIES {
            self.priorities.draw(slot, io);
        }
        let beyond_the_ring = match io.op {
            Op::Read | Op::Write => false,
            Op::Trim => !self.queues_trims,
            _ => self.mode.polled,
        };
        if beyond_the_ring {
            let result = self.perform(io);
            self.ready.push(Completion { slot, result });
        } else {
            self.enqueue(slot, io);
        }
    }

    #[inline]
    fn submit(&mut self) -> Result<(), Errno> {
        if self.mode.kernel_thread && !self.needs_wakeup() {
            return Ok(());
        }
        self.enter(0, None)?;
        // Fewer are taken than there are when one was refused at the door: it
        // has its completion, and the rest are good.
        let mut left = self.unsubmitted();
        while left > 0 && !self.mode.kernel_thread {
            self.enter(0, None)?;
            let now = self.unsubmitted();
            if now == left {
                // No room in the kernel: `reap` tries again.
                break;
            }
            left = now;
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: u32,
        max: u32,
        patience: Option<Nanos>,
        done: &mut Vec<Completion>,
    ) -> Result<(), Errno> {
        self.take(max, done);
        let missing = min.saturating_sub(done.len() as u32).min(self.outstanding);
        // A poll enters too where completions are only made on entering.
        let looks = min == 0 && done.is_empty() && self.mode.enter.contains(EnterFlags::GETEVENTS);
        if missing > 0 || looks && self.outstanding > 0 || self.left_behind() {
            self.enter(missing, patience)?;
            self.take(max, done);
        }
        Ok(())
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        if self.mode.fixed_files {
            self.register(file.file, file.fd)?;
        }
        Ok(())
    }

    fn closing(&mut self, file: FileId) {
        if self.mode.fixed_files {
            // Should it fail, the ring holds the file open until its next use.
            let _ = self.register(file, -1);
        }
    }

    fn priority(&self, slot: Slot) -> u16 {
        if PRIORITIES { self.priorities.of(slot) } else { 0 }
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        match errno.0 {
            libc::EOPNOTSUPP | libc::EINVAL if self.mode.polled && op != Op::Trim => Some(
                "the file cannot be polled (hipri): it takes direct=1 and a device with poll \
                 queues; leave out hipri",
            ),
            _ => self.flags.explain(op, errno),
        }
    }
}

impl<const PRIORITIES: bool> Uring<PRIORITIES> {
    /// Whether requests wait that the kernel had no room for.
    fn left_behind(&self) -> bool {
        !self.mode.kernel_thread && self.unsubmitted() > 0
    }

    fn register(&self, file: FileId, fd: i32) -> Result<(), Errno> {
        let updated = self.ring.submitter.register_files_update(file.0, &[fd]);
        updated.map(drop).map_err(Errno::from)
    }
}

impl<const PRIORITIES: bool> Drop for Uring<PRIORITIES> {
    /// The buffers outlive the engine, but not by much: closing the ring does
    /// not wait for what is in flight, so wait here, for a while.
    fn drop(&mut self) {
        const TRIES: u32 = 50;
        let mut done = Vec::with_capacity(self.outstanding as usize);
        for _ in 0..TRIES {
            if self.outstanding == 0 {
                break;
            }
            done.clear();
            let most = self.outstanding;
            if self.reap(most, most, Some(Nanos::from_millis(100)), &mut done).is_err() {
                break;
            }
        }
        // Closing the ring lets go of these only later, on a worker.
        if self.mode.fixed_files {
            let _ = self.ring.submitter.unregister_files();
        }
        if self.pieces.is_some() {
            let _ = self.ring.submitter.unregister_buffers();
        }
    }
}
