//! Threads that each do one request at a time.
#![allow(unsafe_code)]

use crate::{EngineError, Io, Opened, Queued, Wanted};
use iosonde_base::{Completion, Errno, Op, Slot};
use iosonde_sys::gather;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Enough for system calls: threads that run nothing else of ours.
const STACK_BYTES: usize = 128 << 10;

/// What each thread does with its requests. Made on the thread, and stays
/// there.
pub(crate) trait Hand {
    /// Do one request, to its end.
    fn perform(&mut self, io: &Io) -> Result<u32, Errno>;
}

impl<F: FnMut(&Io) -> Result<u32, Errno>> Hand for F {
    fn perform(&mut self, io: &Io) -> Result<u32, Errno> {
        self(io)
    }
}

/// As many threads as requests may be in flight. They end when it is dropped,
/// after the request each is at.
pub(crate) struct Pool {
    exchange: Arc<Exchange>,
    threads: Vec<JoinHandle<()>>,
}

/// Where requests and completions lie. Both have room for the depth, so that
/// nothing is allocated while the job runs.
struct Exchange {
    inbox: Mutex<Inbox>,
    work: Condvar,
    outbox: Mutex<Vec<Completion>>,
    done: Condvar,
}

struct Inbox {
    requests: VecDeque<Request>,
    open: bool,
}

struct Request {
    slot: Slot,
    io: Io,
}

// SAFETY: the buffer belongs to the request until its completion is handed
// back, so that whichever thread holds the request is the only one to touch it.
unsafe impl Send for Request {}

impl Pool {
    /// Start `depth` threads of this `name`, each with a hand that `make` makes.
    ///
    /// # Errors
    /// When the system gives fewer threads, or a hand cannot be made.
    pub(crate) fn start<H: Hand>(
        depth: u32,
        name: &str,
        make: impl Fn() -> Result<H, EngineError> + Clone + Send + 'static,
    ) -> Result<Pool, EngineError> {
        let slots = depth as usize;
        let exchange = Arc::new(Exchange {
            inbox: Mutex::new(Inbox { requests: VecDeque::with_capacity(slots), open: true }),
            work: Condvar::new(),
            outbox: Mutex::new(Vec::with_capacity(slots)),
            done: Condvar::new(),
        });
        let mut pool = Pool { exchange, threads: Vec::with_capacity(slots) };
        let (giver, made) = gather();
        for _ in 0..depth {
            let (exchange, make) = (pool.exchange.clone(), make.clone());
            let giver = giver.clone();
            let body = move || match make() {
                Ok(hand) => {
                    giver.give(Ok(()));
                    exchange.serve(hand);
                }
                Err(error) => giver.give(Err(error)),
            };
            let spawned = Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(body);
            // Those that run already end as the pool is dropped.
            pool.threads.push(spawned.map_err(|error| EngineError {
                help: Some("ask for a smaller iodepth, one thread is needed for each".to_owned()),
                ..EngineError::system("start a thread for each I/O in flight", error.into())
            })?);
        }
        drop(giver);
        made.wait().into_iter().collect::<Result<(), EngineError>>()?;
        Ok(pool)
    }

    /// Hand a request to a thread.
    pub(crate) fn push(&self, slot: Slot, io: Io) {
        lock(&self.exchange.inbox).requests.push_back(Request { slot, io });
        self.exchange.work.notify_one();
    }

    /// As [`crate::Queued::reap`].
    pub(crate) fn collect(&self, wanted: Wanted, done: &mut Vec<Completion>) {
        let Wanted { min, max, patience } = wanted;
        let until = Instant::now() + Duration::from_nanos(patience.0);
        let mut outbox = lock(&self.exchange.outbox);
        while outbox.len() < min as usize {
            let wait = until.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                break;
            }
            let woken = self.exchange.done.wait_timeout(outbox, wait);
            outbox = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let take = outbox.len().min(max as usize);
        done.extend(outbox.drain(..take));
    }
}

/// An engine that is a pool of threads: the loop's side of it is always the
/// same.
pub(crate) trait Pooled {
    fn pool(&mut self) -> &mut Pool;
    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str>;
    fn opened(&mut self, _file: &Opened) -> Result<(), Errno> {
        Ok(())
    }
}

impl<E: Pooled> Queued for E {
    fn push(&mut self, slot: Slot, io: &Io) {
        self.pool().push(slot, *io);
    }

    fn submit(&mut self) -> Result<(), Errno> {
        // A thread took each request as it was pushed.
        Ok(())
    }

    fn reap(&mut self, wanted: Wanted, done: &mut Vec<Completion>) -> Result<(), Errno> {
        self.pool().collect(wanted, done);
        Ok(())
    }

    fn queues_syncs(&self) -> bool {
        true
    }

    fn opened(&mut self, file: &Opened) -> Result<(), Errno> {
        Pooled::opened(self, file)
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        Pooled::explain(self, op, errno)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        lock(&self.exchange.inbox).open = false;
        self.exchange.work.notify_all();
        for thread in self.threads.drain(..) {
            // A panic of its own was printed when it happened.
            let _ = thread.join();
        }
    }
}

impl Exchange {
    fn serve(&self, mut hand: impl Hand) {
        while let Some(Request { slot, io }) = self.next() {
            // A request that never came back would be waited for for ever.
            let performed = catch_unwind(AssertUnwindSafe(|| hand.perform(&io)));
            let result = performed.unwrap_or(Err(Errno::EIO));
            lock(&self.outbox).push(Completion { slot, result });
            self.done.notify_one();
        }
    }

    /// The next request; none when the pool is dropped.
    fn next(&self) -> Option<Request> {
        let mut inbox = lock(&self.inbox);
        while inbox.open {
            if let Some(request) = inbox.requests.pop_front() {
                return Some(request);
            }
            inbox = self.work.wait(inbox).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }
}

/// What is guarded is whole between any two statements, whoever panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::{FileId, Nanos, Op};
    use std::sync::Barrier;
    use std::sync::OnceLock;

    fn wanted(min: u32, max: u32, patience: Nanos) -> Wanted {
        Wanted { min, max, patience }
    }

    fn io(offset: u64) -> Io {
        let buffer = std::ptr::null_mut();
        Io { offset, buffer, len: 1, op: Op::Read, file: FileId(0), fd: -1 }
    }

    #[test]
    fn as_many_are_in_flight_as_the_depth_says() {
        // Nobody passes before all eight are there: a pool of fewer would hang.
        static ALL: OnceLock<Barrier> = OnceLock::new();
        let perform = |io: &Io| {
            ALL.get_or_init(|| Barrier::new(8)).wait();
            Ok(io.offset as u32)
        };
        let pool = Pool::start(8, "test", move || Ok(perform)).unwrap();
        (0..8).for_each(|n| pool.push(Slot(n), io(n.into())));
        let mut done = Vec::new();
        pool.collect(wanted(8, 8, Nanos::NEVER), &mut done);
        done.sort_by_key(|done| done.slot.0);
        let expected: Vec<_> =
            (0..8).map(|n| Completion { slot: Slot(n), result: Ok(n) }).collect();
        assert_eq!(done, expected);
    }

    #[test]
    fn patience_ends_a_wait_and_most_is_most() {
        let pool = Pool::start(2, "test", || Ok(|io: &Io| Ok(io.len))).unwrap();
        let mut done = Vec::new();
        pool.collect(wanted(1, 2, Nanos::from_millis(1)), &mut done);
        assert!(done.is_empty());
        pool.push(Slot(0), io(0));
        pool.push(Slot(1), io(0));
        while lock(&pool.exchange.outbox).len() < 2 {
            std::thread::yield_now();
        }
        pool.collect(wanted(1, 1, Nanos::NEVER), &mut done);
        assert_eq!(done.len(), 1);
        pool.collect(wanted(0, 2, Nanos::NEVER), &mut done);
        assert_eq!(done.len(), 2);
    }
}
