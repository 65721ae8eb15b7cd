//! libaio: Linux's own asynchronous I/O, by its raw system calls.
#![allow(unsafe_code)]

mod options;

use super::CAPS;
use super::cmdprio::Priorities;
use super::offload::{OneInQueue, pool_of};
use super::rw_flags::RwFlags;
use super::{queued, trim};
use crate::retries::{GIVEN_UP, Retries};
use crate::{Caps, EngineDef, EngineError, Io, OpenWith, Queued, SyncRangeFlags};
use crate::{Wanted, sync_call};
use iosonde_base::{Completion, Errno, FileId, Op, Planned, Slot};
use options::OPTIONS;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use options::LibaioSettings;

/// Catalogue entry.
pub(crate) static LIBAIO: EngineDef = EngineDef {
    name: "libaio",
    aliases: &["aio", "linuxaio"],
    summary: "Linux io_submit(2), io_getevents(2)",
    doc: "io_submit(2) and io_getevents(2). Asynchronous only with direct=1: buffered I/O is \
          done within io_submit(2).",
    caps: Caps { sync: false, atomic: true, slat: true, ..CAPS },
    options: Some(&OPTIONS),
    offload: Some(|with, accounting| {
        pool_of(with, accounting, |with| Libaio::<false>::new(with).map(OneInQueue::new))
    }),
    available: || Context::new(1).map(drop),
    open: |with, accounting| {
        Ok(if !with.settings.sets_priorities() {
            queued(Libaio::<false>::new(with)?, with.depth, accounting)
        } else {
            queued(Libaio::<true>::new(with)?, with.depth, accounting)
        })
    },
};

const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
/// fsync(2) and fdatasync(2) (Linux 4.18).
const IOCB_CMD_FSYNC: u16 = 2;
const IOCB_CMD_FDSYNC: u16 = 3;
/// The request has its own priority (Linux 4.18).
const IOCB_FLAG_IOPRIO: u32 = 2;
const IOCB_CMD_PREADV: u16 = 7;
const IOCB_CMD_PWRITEV: u16 = 8;

/// A request: `struct iocb` of linux/aio_abi.h.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Iocb {
    data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    rw_flags: i32,
    #[cfg(target_endian = "big")]
    key: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// A completion: `struct io_event`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct IoEvent {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

/// The head of the ring that the kernel maps at the context's address;
/// `struct aio_ring` of its fs/aio.c. The events follow it.
#[repr(C)]
struct RingHead {
    id: u32,
    events: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    head_bytes: u32,
}

/// `magic` of a ring of this layout.
const RING_MAGIC: u32 = 0xa10a_10a1;

/// What io_setup(2) gives; io_destroy(2) when dropped, which waits for
/// whatever is still in flight.
struct Context(libc::c_ulong);

impl Context {
    fn new(depth: u32) -> Result<Context, EngineError> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the call writes one unsigned long through the pointer.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, depth, &mut context) };
        if result == 0 {
            return Ok(Context(context));
        }
        let errno = Errno::from(std::io::Error::last_os_error());
        let (why, help) = match errno.0 {
            libc::EAGAIN => (
                "the system's limit of requests (fs.aio-max-nr) is reached",
                "raise it (sysctl fs.aio-max-nr=1048576), or use a smaller iodepth or fewer jobs",
            ),
            libc::EINVAL => {
                ("that is more than the kernel takes", "use a smaller iodepth, or more jobs")
            }
            libc::ENOSYS => {
                ("this kernel has no asynchronous I/O (CONFIG_AIO)", "use ioengine=io_uring")
            }
            libc::EPERM | libc::EACCES => (
                "it is forbidden here, as by a container's seccomp profile",
                "allow io_setup(2), or use ioengine=psync",
            ),
            _ => return Err(EngineError::system("set up asynchronous I/O (io_setup)", errno)),
        };
        Err(EngineError {
            message: format!("set up asynchronous I/O for {depth} requests: {why} ({errno})"),
            help: Some(help.into()),
            errno,
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context came from io_setup and is destroyed once.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

/// The engine. `PRIORITIES` is whether single I/Os have priorities.
pub(super) struct Libaio<const PRIORITIES: bool> {
    context: Context,
    flags: RwFlags,
    priorities: Priorities,
    /// One request for each slot, where it stays while it is in flight.
    requests: Box<[Iocb]>,
    /// One vector for each slot, for `libaio_vectored`; else empty.
    vectors: Box<[libc::iovec]>,
    /// Pushed, and not taken by the kernel yet, in order.
    pending: Vec<*mut Iocb>,
    /// What never went to the kernel: trims, some syncs, and what it refused.
    ready: Vec<Completion>,
    events: Box<[IoEvent]>,
    /// How many the kernel has.
    with_kernel: u32,
    /// Submissions of which nothing was taken while the kernel had nothing.
    refusals: Retries,
    /// Waits that were interrupted, since the kernel last waited or gave any.
    interruptions: Retries,
    /// They went on for too long.
    given_up: bool,
    /// The kernel's ring, to be read without a call (`userspace_reap`).
    ring: Option<*const RingHead>,
    /// The kernel takes syncs as requests.
    queues_syncs: bool,
    sync_range: SyncRangeFlags,
}

impl<const PRIORITIES: bool> Libaio<PRIORITIES> {
    pub(super) fn new(with: &OpenWith) -> Result<Self, EngineError> {
        let settings: LibaioSettings = with.settings.of();
        let context = Context::new(with.depth)?;
        let depth = with.depth as usize;
        let ring = settings.userspace_reap.then_some(context.0 as *const RingHead);
        // SAFETY: io_setup maps the ring at the context's address until
        // io_destroy. A kernel that lays it out otherwise has another magic.
        let ring = ring.filter(|&ring| unsafe { (*ring).magic == RING_MAGIC });
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        Ok(Libaio {
            context,
            flags: RwFlags::default().nowait(settings.nowait).atomic(settings.atomic),
            priorities: Priorities::new(settings.priorities.as_ref(), with.depth),
            requests: vec![Iocb::default(); depth].into(),
            vectors: vec![nothing; if settings.vectored { depth } else { 0 }].into(),
            pending: Vec::with_capacity(depth),
            ready: Vec::with_capacity(depth),
            events: vec![IoEvent::default(); depth].into(),
            with_kernel: 0,
            refusals: Retries::default(),
            interruptions: Retries::default(),
            given_up: false,
            ring,
            queues_syncs: true,
            sync_range: with.sync_range,
        })
    }

    /// io_submit(2) of what is pending, from `first` on: how many it took.
    fn io_submit(&mut self, first: usize) -> Result<usize, Errno> {
        let pending = &self.pending[first..];
        // SAFETY: each pointer is to a request of `requests`, which do not
        // move; each names a buffer (or a vector of `vectors`) that is its
        // slot's alone until its completion is handed out.
        let taken = unsafe {
            libc::syscall(libc::SYS_io_submit, self.context.0, pending.len(), pending.as_ptr())
        };
        if taken >= 0 {
            return Ok(taken as usize);
        }
        Err(std::io::Error::last_os_error().into())
    }

    /// Push what is no read or write.
    #[cold]
    #[inline(never)]
    fn push_other(&mut self, slot: Slot, io: &Io) {
        let opcode = match io.op {
            Op::Sync if self.queues_syncs => IOCB_CMD_FSYNC,
            Op::DataSync if self.queues_syncs => IOCB_CMD_FDSYNC,
            Op::Trim => {
                self.ready.push(Completion { slot, result: trim::discard(io) });
                return;
            }
            _ => {
                // The call follows what was pushed before it.
                let _ = self.submit_pending();
                let entry = Planned { offset: io.offset, len: io.len, file: io.file, op: io.op };
                let result = sync_call::sync(&entry, io.fd, self.sync_range).map(|()| 0);
                self.ready.push(Completion { slot, result });
                return;
            }
        };
        let request = &mut self.requests[slot.0 as usize];
        *request = Iocb { data: u64::from(slot.0), opcode, fd: io.fd as u32, ..Iocb::default() };
        self.pending.push(request);
    }

    /// What becomes of a request that the kernel refused: a sync is made by a
    /// system call, where the kernel or the file system takes none as a request.
    #[cold]
    fn refused(&mut self, request: Iocb, errno: Errno) -> Completion {
        let op = match request.opcode {
            IOCB_CMD_FSYNC => Some(Op::Sync),
            IOCB_CMD_FDSYNC => Some(Op::DataSync),
            _ => None,
        };
        let result = match (op, errno) {
            (Some(op), Errno::EINVAL | Errno::EOPNOTSUPP) => {
                self.queues_syncs = false;
                let entry = Planned { offset: 0, len: 0, file: FileId(0), op };
                sync_call::sync(&entry, request.fd as i32, self.sync_range).map(|()| 0)
            }
            _ => Err(errno),
        };
        Completion { slot: Slot(request.data as u32), result }
    }

    /// io_submit(2) of all that is pending, as far as the kernel has room. Why it
    /// did not take the rest, if it did not: [`Queued::reap`] tries again.
    #[inline]
    fn submit_pending(&mut self) -> Result<(), Errno> {
        let (mut taken, mut result) = (0, Ok(()));
        while taken < self.pending.len() {
            match self.io_submit(taken) {
                Ok(count) => {
                    taken += count;
                    self.with_kernel += count as u32;
                }
                Err(errno @ (Errno::EINTR | Errno::EAGAIN)) => {
                    result = Err(errno);
                    break;
                }
                // The first of them was refused; the others may be good.
                Err(errno) => {
                    // SAFETY: a pointer into `requests`, which nobody borrows now.
                    let request = unsafe { *self.pending[taken] };
                    let completion = self.refused(request, errno);
                    self.ready.push(completion);
                    taken += 1;
                }
            }
        }
        self.pending.drain(..taken);
        result
    }

    /// Submit what the kernel did not take before. What it does not take for too
    /// long, though it has nothing else to do, fails.
    #[cold]
    fn submit_again(&mut self, has_completions: bool) {
        let idle = self.with_kernel == 0 && !has_completions;
        if idle {
            // The kernel has no room for any, so others have filled it.
            std::thread::sleep(Duration::from_micros(100));
        }
        let before = self.pending.len();
        let submitted = self.submit_pending();
        match submitted {
            Err(errno) if idle && self.pending.len() == before => {
                if !self.refusals.again(false) {
                    // SAFETY: pointers into `requests`, which nobody borrows now.
                    let slots = self.pending.drain(..).map(|request| unsafe { (*request).data });
                    let failed = slots
                        .map(|slot| Completion { slot: Slot(slot as u32), result: Err(errno) });
                    self.ready.extend(failed);
                }
            }
            _ => self.refusals.moved(),
        }
    }

    /// Take up to `room` events from the ring in memory.
    fn reap_ring(&mut self, room: u32, done: &mut Vec<Completion>) {
        let Some(ring) = self.ring else { return };
        // SAFETY: mapped until io_destroy, which is in our drop.
        let ring = unsafe { &*ring };
        let (mut head, tail) =
            (ring.head.load(Ordering::Relaxed), ring.tail.load(Ordering::Acquire));
        // SAFETY: the events follow the head, as its length says.
        let events = unsafe { (ring as *const RingHead).byte_add(ring.head_bytes as usize) };
        let mut left = room;
        while left > 0 && head != tail {
            // SAFETY: `head` is below the ring's count of events, and what lies
            // between head and tail is ours to read.
            let event = unsafe { *events.cast::<IoEvent>().add(head as usize) };
            self.with_kernel -= 1;
            done.push(completion(&event));
            head = if head + 1 >= ring.events { 0 } else { head + 1 };
            left -= 1;
        }
        ring.head.store(head, Ordering::Release);
    }

    /// io_getevents(2): from `min` to `max` of what the kernel has.
    fn io_getevents(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let Wanted { min, max, patience } = wanted;
        let timeout = libc::timespec {
            tv_sec: (patience.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (patience.0 % 1_000_000_000) as libc::c_long,
        };
        let timeout = if min > 0 { &raw const timeout } else { std::ptr::null() };
        let max = (max as usize).min(self.events.len());
        let events = self.events.as_mut_ptr();
        // SAFETY: `events` has room for `max`; the timeout lives until the call returns.
        let count = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context.0,
                min as usize,
                max,
                events,
                timeout,
            )
        };
        if count < 0 {
            let errno = Errno::from(std::io::Error::last_os_error());
            return self.interrupted(errno);
        }
        self.interruptions.moved();
        self.with_kernel -= count as u32;
        done.extend(self.events[..count as usize].iter().map(completion));
        Ok(())
    }

    /// A wait failed: fine, if a signal came. Not if one comes for so long that it
    /// will not pass.
    #[cold]
    fn interrupted(&mut self, errno: Errno) -> Result<(), Errno> {
        if errno.0 != libc::EINTR {
            return Err(errno);
        }
        self.given_up = !self.interruptions.again(false);
        if self.given_up { Err(errno) } else { Ok(()) }
    }
}

fn completion(event: &IoEvent) -> Completion {
    let slot = Slot(event.data as u32);
    // Never more than was asked, which is a u32.
    let moved = u32::try_from(event.result).map_err(|_| Errno(-event.result as i32));
    Completion { slot, result: moved }
}

impl<const PRIORITIES: bool> Queued for Libaio<PRIORITIES> {
    fn push(&mut self, slot: Slot, io: &Io) {
        if io.op as u8 >= Op::Trim as u8 {
            return self.push_other(slot, io);
        }
        let at = slot.0 as usize;
        let reads = io.op == Op::Read;
        let (opcode, buffer, bytes) = match self.vectors.get_mut(at) {
            None => {
                let opcode = if reads { IOCB_CMD_PREAD } else { IOCB_CMD_PWRITE };
                (opcode, io.buffer as u64, u64::from(io.len))
            }
            Some(vector) => {
                *vector = libc::iovec { iov_base: io.buffer.cast(), iov_len: io.len as usize };
                let opcode = if reads { IOCB_CMD_PREADV } else { IOCB_CMD_PWRITEV };
                (opcode, std::ptr::from_mut(vector) as u64, 1)
            }
        };
        if PRIORITIES {
            self.priorities.draw(slot, io);
        }
        let priority = if PRIORITIES { self.priorities.of(slot) } else { 0 };
        let request = &mut self.requests[at];
        *request = Iocb {
            data: u64::from(slot.0),
            rw_flags: self.flags.of(io.op),
            opcode,
            fd: io.fd as u32,
            buffer,
            bytes,
            offset: io.offset as i64,
            priority: priority as i16,
            flags: if priority == 0 { 0 } else { IOCB_FLAG_IOPRIO },
            ..Iocb::default()
        };
        self.pending.push(request);
    }

    fn submit(&mut self) -> Result<(), Errno> {
        // What is left is submitted by `reap`.
        let _ = self.submit_pending();
        Ok(())
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        let Wanted { min, max, patience } = wanted;
        if !self.ready.is_empty() {
            let count = self.ready.len().min(max as usize);
            done.extend(self.ready.drain(..count));
        }
        let got = |done: &Vec<Completion>| done.len() as u32;
        if self.ring.is_some() {
            self.reap_ring(max - got(done), done);
        }
        let room = max - got(done);
        let missing = min.saturating_sub(got(done)).min(self.with_kernel);
        if room > 0 && (missing > 0 || min == 0 && self.ring.is_none() && self.with_kernel > 0) {
            self.io_getevents(Wanted { min: missing, max: room, patience }, done)?;
        }
        if !self.pending.is_empty() {
            self.submit_again(!done.is_empty());
        }
        Ok(())
    }

    fn queues_syncs(&self) -> bool {
        true
    }

    fn broken(&self) -> Option<&'static str> {
        self.given_up.then_some(GIVEN_UP)
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        let refused = (errno.0 == libc::EAGAIN).then_some(GIVEN_UP);
        self.flags.explain(op, errno).or(refused)
    }

    fn priority(&self, slot: Slot) -> u16 {
        if PRIORITIES { self.priorities.of(slot) } else { 0 }
    }
}
