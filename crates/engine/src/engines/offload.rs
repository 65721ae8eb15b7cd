//! `io_submit_mode=offload`: an engine made of a pool of threads over another,
//! so that the job's own thread never waits for a submission. Each thread has
//! the other engine to itself and does one I/O at a time.
#![allow(unsafe_code)]

use super::pool::{Hand, Pool, Pooled};
use super::shared_queued;
use crate::{Accounting, EngineError, Io, Loop, OneShot, OpenWith, Opened, Queued, SyncRangeFlags};
use crate::{Wanted, sync_call};
use iosonde_base::{Completion, Errno, FileId, Nanos, Op, Planned, Slot};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An engine as one of the threads has it.
pub(crate) trait Inner {
    /// Whether it makes data durable itself.
    fn syncs(&self) -> bool;
    fn perform(&mut self, io: &Io) -> Result<u32, Errno>;
    fn opened(&mut self, file: &Opened) -> Result<(), Errno>;
    fn closing(&mut self, file: FileId);
    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str>;
}

/// One that does one thing at a time.
pub(crate) struct Alone<E>(pub(crate) E);

impl<E: OneShot> Inner for Alone<E> {
    fn syncs(&self) -> bool {
        self.0.syncs()
    }

    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        self.0.perform(io)
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        self.0.opened(file)
    }

    fn closing(&mut self, file: FileId) {
        self.0.closing(file);
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        self.0.explain(op, errno)
    }
}

/// One with a queue, in which one I/O is at a time.
#[allow(dead_code, reason = "some systems have no engine with a queue of its own")]
pub(crate) struct OneInQueue<E> {
    engine: E,
    done: Vec<Completion>,
}

#[allow(dead_code, reason = "as above")]
impl<E> OneInQueue<E> {
    pub(crate) fn new(engine: E) -> OneInQueue<E> {
        OneInQueue { engine, done: Vec::with_capacity(1) }
    }
}

impl<E: Queued> Inner for OneInQueue<E> {
    fn syncs(&self) -> bool {
        self.engine.queues_syncs()
    }

    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        self.engine.push(Slot(0), io);
        self.engine.submit()?;
        self.done.clear();
        loop {
            // It may come back for a signal.
            let one = Wanted { min: 1, max: 1, patience: Nanos::NEVER };
            self.engine.reap(one, &mut self.done)?;
            if let Some(done) = self.done.pop() {
                return done.result;
            }
        }
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        self.engine.opened(file)
    }

    fn closing(&mut self, file: FileId) {
        self.engine.closing(file);
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        self.engine.explain(op, errno)
    }
}

/// Files as they are now, for threads to look at when an I/O comes.
#[derive(Default)]
struct Table {
    files: Vec<Entry>,
    /// What the last error that had words meant.
    explained: Option<(Op, Errno, &'static str)>,
}

/// A file, and how often it was opened.
#[derive(Clone, Copy, Default)]
struct Entry {
    times: u64,
    opened: Option<Opened>,
}

/// One thread's hand: its engine, and what that knows of the files.
struct PoolThread<I> {
    inner: I,
    table: Arc<Mutex<Table>>,
    known: Vec<u64>,
    sync_range: SyncRangeFlags,
}

impl<I: Inner> PoolThread<I> {
    /// Tell the engine that a file was opened, and before that closed.
    fn catch_up(&mut self, file: FileId) -> Result<(), Errno> {
        let at = file.0 as usize;
        // An engine without files may have I/Os without a file.
        let Some(&Entry { times, opened }) = lock(&self.table).files.get(at) else {
            return Ok(());
        };
        let known = std::mem::replace(&mut self.known[at], times);
        if known == times {
            return Ok(());
        }
        if known > 0 {
            self.inner.closing(file);
        }
        opened.map_or(Ok(()), |opened| self.inner.opened(&opened))
    }

    fn act(&mut self, io: &Io) -> Result<u32, Errno> {
        self.catch_up(io.file)?;
        if io.op.is_sync() && !self.inner.syncs() {
            let &Io { offset, len, file, op, fd, .. } = io;
            // An engine without files has nothing to make durable.
            if fd < 0 {
                return Ok(len);
            }
            let entry = Planned { offset, len, file, op };
            return sync_call::sync(&entry, fd, self.sync_range).map(|()| len);
        }
        self.inner.perform(io)
    }
}

impl<I: Inner> Hand for PoolThread<I> {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        let result = self.act(io);
        if let Err(errno) = result
            && let Some(words) = self.inner.explain(io.op, errno)
        {
            lock(&self.table).explained = Some((io.op, errno, words));
        }
        result
    }
}

/// What is lent to each thread for its engine.
#[derive(Clone)]
struct Lent(OpenWith);

// SAFETY: the span of buffers is only an address here. Each I/O lends its part
// of it to one thread at a time, and it outlives the engine, which joins its
// threads when it is dropped.
unsafe impl Send for Lent {}

impl Lent {
    fn get(&self) -> &OpenWith {
        &self.0
    }
}

pub(crate) fn pool_of<I: Inner + 'static>(
    with: &OpenWith,
    accounting: Accounting,
    open: fn(&OpenWith) -> Result<I, EngineError>,
) -> Result<Box<dyn Loop>, EngineError> {
    let files = with.files as usize;
    let table =
        Arc::new(Mutex::new(Table { files: vec![Entry::default(); files], ..Table::default() }));
    let lent = Lent(OpenWith { depth: 1, ..with.clone() });
    let make = {
        let table = table.clone();
        move || {
            let with = lent.get();
            let (table, known) = (table.clone(), vec![0; files]);
            Ok(PoolThread { inner: open(with)?, table, known, sync_range: with.sync_range })
        }
    };
    let pool = Pool::start(with.depth, "offload", make)?;
    Ok(shared_queued(Offload { pool, table }, with.depth, accounting))
}

/// The engine.
struct Offload {
    pool: Pool,
    table: Arc<Mutex<Table>>,
}

impl Pooled for Offload {
    fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        if let Some(entry) = lock(&self.table).files.get_mut(file.file.0 as usize) {
            *entry = Entry { times: entry.times + 1, opened: Some(*file) };
        }
        Ok(())
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        let explained = lock(&self.table).explained;
        explained.filter(|told| (told.0, told.1) == (op, errno)).map(|told| told.2)
    }
}

/// What is guarded is whole between any two statements, whoever panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
