//! io_uring: requests and completions in rings shared with the kernel.
#![allow(unsafe_code)]

mod options;
mod requests;
mod setup;

use super::CAPS;
use super::offload::{OneInQueue, pool_of};
use super::{queued, trim};
use crate::retries::{GIVEN_UP, Retries};
use crate::{Caps, EngineDef, EngineError, Io, OpenWith, Opened, Queued, SyncRangeFlags};
use crate::{Wanted, sync_call};
use io_uring::{EnterFlags, IoUring, Submitter, squeue, types};
use iosonde_base::{Completion, Errno, FileId, Nanos, Op, Planned, Slot};
use options::OPTIONS;
use requests::Requests;
use setup::Mode;
use std::ptr::NonNull;
use std::time::Duration;

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
        Ok(if !with.settings.sets_priorities() {
            queued(Uring::<false>::new(with)?, with.depth, accounting)
        } else {
            queued(Uring::<true>::new(with)?, with.depth, accounting)
        })
    },
};

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

/// Of the completion of a sync or a trim, beside the number of its slot.
const SPECIAL: u64 = 1 << 32;

/// The engine. `PRIORITIES` is whether single I/Os have priorities.
pub(super) struct Uring<const PRIORITIES: bool> {
    ring: MappedRings,
    mode: Mode,
    requests: Requests<PRIORITIES>,
    /// The sync or trim that each slot has in flight.
    specials: Box<[Option<Io>]>,
    /// What was done without the ring.
    ready: Vec<Completion>,
    /// In the ring or in the kernel.
    outstanding: u32,
    /// Submissions of which nothing was taken while the kernel had nothing.
    refusals: Retries,
    /// Waits that the kernel refused, since it last waited or anything completed.
    refused_waits: Retries,
    /// They, or the refused submissions, went on for too long.
    given_up: bool,
    sync_range: SyncRangeFlags,
    /// The kernel discards through the ring, as far as we know.
    queues_trims: bool,
}

impl<const PRIORITIES: bool> Uring<PRIORITIES> {
    pub(super) fn new(with: &OpenWith) -> Result<Self, EngineError> {
        let settings: UringSettings = with.settings.of();
        let (ring, mode) = setup::build(with, &settings)?;
        let mut ring = MappedRings::new(ring);
        setup::register_ring(&mut ring.submitter);
        let pieces = if settings.fixedbufs {
            Some(setup::register_buffers(&ring.submitter, with.memory)?)
        } else {
            None
        };
        if mode.fixed_files {
            setup::register_files(&ring.submitter, with.files)?;
        }
        let depth = with.depth as usize;
        Ok(Uring {
            ring,
            mode,
            requests: Requests::new(with, &settings, mode, pieces),
            specials: vec![None; depth].into(),
            ready: Vec::with_capacity(depth),
            outstanding: 0,
            refusals: Retries::default(),
            refused_waits: Retries::default(),
            given_up: false,
            sync_range: with.sync_range,
            queues_trims: !mode.polled,
        })
    }

    /// Put reads and writes in the submission ring, up to the first request that
    /// is neither or that it has no room for, which is returned.
    #[inline(always)]
    fn enqueue_data(&mut self, ios: &mut impl Iterator<Item = (Slot, Io)>) -> Option<(Slot, Io)> {
        // SAFETY: one thread has the ring, and no other view of its submission
        // side exists while this one does.
        let mut submissions = unsafe { self.ring.ring().submission_shared() };
        let room = submissions.capacity() - submissions.len();
        let mut pushed = 0;
        let left = loop {
            let Some((slot, io)) = ios.next() else { break None };
            if io.op as u8 > Op::Write as u8 || pushed == room {
                break Some((slot, io));
            }
            let entry = self.requests.data(slot, &io);
            // SAFETY: the buffer is the slot's alone until its completion is
            // handed out; a vector stays in `requests` as long.
            unsafe { submissions.push(&entry) }.expect("it is not full");
            pushed += 1;
        };
        self.outstanding += pushed as u32;
        left
    }

    /// Take a request that [`Uring::enqueue_data`] did not.
    #[cold]
    #[inline(never)]
    fn enqueue_other(&mut self, slot: Slot, io: &Io) {
        let entry = match io.op {
            // The ring was full.
            Op::Read | Op::Write => self.requests.data(slot, io),
            _ if self.is_beyond_the_ring(io.op) => {
                let result = self.perform(io);
                self.ready.push(Completion { slot, result });
                return;
            }
            _ => {
                self.specials[slot.0 as usize] = Some(*io);
                self.requests.special(io).user_data(u64::from(slot.0) | SPECIAL)
            }
        };
        // SAFETY: as in `enqueue_data`.
        let pushed = unsafe { self.ring.ring().submission_shared().push(&entry) };
        match pushed {
            Ok(()) => self.outstanding += 1,
            Err(_) => self.enqueue_later(slot, &entry),
        }
    }

    /// Whether the ring cannot do this.
    fn is_beyond_the_ring(&self, op: Op) -> bool {
        if op == Op::Trim { !self.queues_trims } else { self.mode.polled }
    }

    /// The kernel's thread says only after a round of submissions how far it
    /// came, when the first of them may be long done: wait for the room that
    /// there will be.
    #[cold]
    #[inline(never)]
    fn enqueue_later(&mut self, slot: Slot, entry: &squeue::Entry) {
        let mut retries = Retries::default();
        while self.mode.kernel_thread {
            let flags = EnterFlags::SQ_WAIT | EnterFlags::SQ_WAKEUP;
            // SAFETY: the flags take no argument.
            let waited =
                unsafe { self.ring.submitter.enter::<libc::sigset_t>(0, 0, flags.bits(), None) };
            let interrupted = |error: &std::io::Error| error.raw_os_error() == Some(libc::EINTR);
            let fatal = waited.is_err_and(|error| !interrupted(&error) || !retries.again(false));
            // SAFETY: as in `enqueue_data`.
            if unsafe { self.ring.ring().submission_shared().push(entry) }.is_ok() {
                self.outstanding += 1;
                return;
            }
            if fatal {
                break;
            }
        }
        // Without such a thread the ring has room for the depth.
        self.specials[slot.0 as usize] = None;
        self.ready.push(Completion { slot, result: Err(Errno::EBUSY) });
    }

    /// How many requests the kernel has not taken from the ring yet.
    #[inline]
    fn unsubmitted(&self) -> u32 {
        // SAFETY: as in `enqueue_data`.
        unsafe { self.ring.ring().submission_shared() }.len() as u32
    }

    /// Enter the kernel: submit what is in the ring and wait for `min`. The
    /// passing error with which it refused, if it did.
    fn enter(&mut self, min: u32, patience: Nanos) -> Result<Option<Errno>, Errno> {
        self.enter_with(self.unsubmitted(), min, patience)
    }

    /// The same, but submit so many.
    fn enter_with(
        &mut self,
        submit: u32,
        min: u32,
        patience: Nanos,
    ) -> Result<Option<Errno>, Errno> {
        let mut flags = self.mode.enter;
        if min > 0 {
            flags |= EnterFlags::GETEVENTS;
        }
        if self.mode.kernel_thread && self.needs_wakeup() {
            flags |= EnterFlags::SQ_WAKEUP;
        }
        let timeout = (min > 0 && self.mode.timeouts).then(|| {
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
            // Time is up.
            Ok(_) | Err(libc::ETIME) => Ok(None),
            // A signal came, or there is no room until some of what is in
            // flight is collected: the loop comes again.
            Err(errno @ (libc::EINTR | libc::EAGAIN | libc::EBUSY)) => Ok(Some(Errno(errno))),
            Err(errno) => Err(Errno(errno)),
        }
    }

    fn needs_wakeup(&self) -> bool {
        // SAFETY: as in `enqueue_data`.
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
        // SAFETY: one thread has the ring; no other view of its completion
        // side exists while this one does.
        let mut completions = unsafe { self.ring.ring().completion_shared() };
        let count = completions.len().min(max as usize - first);
        self.outstanding -= count as u32;
        // Its upper half is not zero if one of them is an error or special.
        let mut marks = 0;
        // As many as are there, which a range says to the vector: it asks once for room.
        let entries = (0..count).map(|_| completions.next().expect("there are so many"));
        done.extend(entries.map(|entry| {
            let moved = entry.result();
            marks |= entry.user_data() | i64::from(moved) as u64;
            // Never more than was asked, which is a u32.
            let result = if moved >= 0 { Ok(moved as u32) } else { Err(Errno(-moved)) };
            Completion { slot: Slot(entry.user_data() as u32), result }
        }));
        drop(completions);
        if marks >= SPECIAL {
            self.look_again(first, done);
        }
    }

    /// From `first` on: do the trims here that the kernel does not do through
    /// the ring.
    #[cold]
    #[inline(never)]
    fn look_again(&mut self, first: usize, done: &mut [Completion]) {
        for Completion { slot, result } in &mut done[first..] {
            let special = self.specials[slot.0 as usize].take();
            if let (Err(Errno::EOPNOTSUPP | Errno::EINVAL | Errno::ENOTTY), Some(io)) =
                (*result, special)
                && io.op == Op::Trim
            {
                self.queues_trims = false;
                *result = trim::discard(&io);
            }
        }
    }

    /// The kernel took none of the requests in the ring: whether to go on asking.
    /// Not after a while in which it had nothing else to do.
    #[cold]
    fn asks_again(&mut self) -> bool {
        if self.unsubmitted() < self.outstanding {
            self.refusals.moved();
            return true;
        }
        std::thread::sleep(Duration::from_micros(100));
        self.given_up = !self.refusals.again(false);
        !self.given_up
    }

    /// The kernel refused to submit and wait, and nothing completed. Wait without
    /// submitting: a kernel that has no room for more still waits for what it has.
    /// An error if it refuses that too, for so long that it will not pass.
    #[cold]
    #[inline(never)]
    fn wait_again(&mut self, refused: Errno, min: u32, patience: Nanos) -> Result<(), Errno> {
        let errno = if self.unsubmitted() == 0 {
            refused
        } else {
            // What was not submitted cannot complete.
            let with_kernel = self.outstanding.saturating_sub(self.unsubmitted());
            if with_kernel == 0 {
                return Ok(());
            }
            match self.enter_with(0, min.min(with_kernel), patience)? {
                None => {
                    self.refused_waits.moved();
                    return Ok(());
                }
                Some(errno) => errno,
            }
        };
        if self.refused_waits.again(false) {
            return Ok(());
        }
        self.given_up = true;
        Err(errno)
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
    /// Interrupted, or asked to come again though nobody forbade it to wait.
    fn is_passing(&self, errno: Errno) -> bool {
        errno.0 == libc::EINTR || errno.0 == libc::EAGAIN && !self.mode.nowait
    }

    #[inline]
    fn push(&mut self, slot: Slot, io: &Io) {
        self.push_all(std::iter::once((slot, *io)));
    }

    #[inline(always)]
    fn push_all(&mut self, mut ios: impl ExactSizeIterator<Item = (Slot, Io)>) {
        while let Some((slot, io)) = self.enqueue_data(&mut ios) {
            self.enqueue_other(slot, &io);
        }
    }

    #[inline]
    fn submit(&mut self) -> Result<(), Errno> {
        if self.mode.kernel_thread && !self.needs_wakeup() {
            return Ok(());
        }
        self.enter(0, Nanos(0))?;
        // Fewer are taken than there are when one was refused at the door: it
        // has its completion, and the rest are good.
        let mut left = self.unsubmitted();
        while left > 0 && !self.mode.kernel_thread {
            self.enter(0, Nanos(0))?;
            let now = self.unsubmitted();
            if now == left {
                // No room in the kernel: `reap` tries again.
                break;
            }
            left = now;
        }
        Ok(())
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let Wanted { min, max, patience } = wanted;
        self.take(max, done);
        let missing = min.saturating_sub(done.len() as u32).min(self.outstanding);
        // A poll enters too where completions are only made on entering.
        let looks = min == 0 && done.is_empty() && self.mode.enter.contains(EnterFlags::GETEVENTS);
        if missing > 0 || looks && self.outstanding > 0 || self.left_behind() {
            let refused = self.enter(missing, patience)?;
            let before = done.len();
            self.take(max, done);
            if self.left_behind() && !self.asks_again() {
                return Err(refused.unwrap_or(Errno::EAGAIN));
            }
            match refused {
                Some(errno) if missing > 0 && done.len() == before => {
                    self.wait_again(errno, missing, patience)?;
                    self.take(max, done);
                }
                Some(_) if done.len() == before => {}
                _ => self.refused_waits.moved(),
            }
        }
        Ok(())
    }

    fn queues_syncs(&self) -> bool {
        true
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
        self.requests.priority(slot)
    }

    fn broken(&self) -> Option<&'static str> {
        self.given_up.then_some(GIVEN_UP)
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        match errno.0 {
            libc::EOPNOTSUPP | libc::EINVAL if self.mode.polled && op != Op::Trim => Some(
                "the file cannot be polled (hipri): it takes direct=1 and a device with poll \
                 queues; leave out hipri",
            ),
            _ => self.requests.flags.explain(op, errno),
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
            let (min, max) = (self.outstanding, self.outstanding);
            let all = Wanted { min, max, patience: Nanos::from_millis(100) };
            if self.reap(all, &mut done).is_err() {
                break;
            }
        }
        // Closing the ring lets go of these only later, on a worker.
        if self.mode.fixed_files {
            let _ = self.ring.submitter.unregister_files();
        }
        if self.requests.has_registered_buffers() {
            let _ = self.ring.submitter.unregister_buffers();
        }
    }
}
