//! Threads that check blocks while the job reads on (`verify_async`).
//!
//! The job copies what it read into a batch and hands that over; so its own
//! buffer is free at once, and a thread is woken for many blocks instead of for
//! each. There are only so many batches: a job that reads faster than its
//! threads check waits for one of them.

use super::WrongBlock;
use crate::Failure;
use iosonde_base::{Errno, Planned};
use iosonde_sys::gather;
use iosonde_verify::{BlockCheck, BlockFormat};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// A batch is handed over once it holds so many bytes. Waking a thread takes
/// a few microseconds, as checking some blocks of 4 KiB does: so for 32 of them.
const BATCH_BYTES: usize = 128 << 10;

/// And not later than so long after its first block, so that wrong data read
/// from a slow device is noticed soon.
pub(super) const BATCH_NS: u64 = 1_000_000;

/// Called on each thread before it checks anything; an error is why it cannot.
pub type CheckerStart = Arc<dyn Fn() -> Result<(), Errno> + Send + Sync>;

/// Threads that check blocks. They end when this is dropped.
pub struct Checkers {
    exchange: Arc<CheckExchange>,
    threads: Vec<JoinHandle<()>>,
    filling: CheckBatch,
    /// When the first block of `filling` was added, in ticks.
    began: u64,
}

/// What the threads did since it was last asked for.
#[derive(Default)]
pub(super) struct Checked {
    /// Blocks that were checked.
    pub blocks: u64,
    /// Those that are wrong.
    pub wrong: Vec<(Planned, WrongBlock)>,
    /// Why blocks cannot be checked any more: a thread panicked.
    pub broken: Option<Failure>,
}

/// Blocks that are checked by one thread, one after the other.
#[derive(Default)]
struct CheckBatch {
    bytes: Vec<u8>,
    checks: Vec<(Planned, BlockCheck, Range<usize>)>,
}

struct CheckExchange {
    lists: Mutex<Lists>,
    /// There is a batch to be checked, or no more will come.
    work: Condvar,
    /// A batch was checked.
    done: Condvar,
    /// A wrong block was found: the job looks at this without taking the lock.
    found: AtomicBool,
}

#[derive(Default)]
struct Lists {
    ready: VecDeque<CheckBatch>,
    empty: Vec<CheckBatch>,
    /// Batches that threads have at hand.
    busy: usize,
    closed: bool,
    checked: Checked,
}

impl Checkers {
    /// Start `threads` threads that check blocks of `format`, each after it has
    /// called `start`.
    ///
    /// # Errors
    /// If the system gives fewer threads, or `start` fails on one of them.
    pub fn start(
        threads: u32,
        format: &BlockFormat,
        start: &CheckerStart,
    ) -> Result<Checkers, Failure> {
        let spares = 2 * threads as usize;
        let lists = Lists {
            empty: (0..spares).map(|_| CheckBatch::default()).collect(),
            ..Lists::default()
        };
        let exchange = Arc::new(CheckExchange {
            lists: Mutex::new(lists),
            work: Condvar::new(),
            done: Condvar::new(),
            found: AtomicBool::new(false),
        });
        let (format, filling) = (Arc::new(format.clone()), CheckBatch::default());
        let mut checkers = Checkers { exchange, threads: Vec::new(), filling, began: 0 };
        let (giver, started) = gather();
        for _ in 0..threads {
            let (exchange, format) = (checkers.exchange.clone(), format.clone());
            let (start, giver) = (start.clone(), giver.clone());
            let spawned = Builder::new().name("verify".into()).spawn(move || {
                let result = start();
                let serves = result.is_ok();
                giver.give(result);
                if serves {
                    exchange.serve(&format);
                }
            });
            let thread = spawned.map_err(|error| Failure {
                detail: Some("use fewer threads in verify_async"),
                ..Failure::engine("start a thread of verify_async", error.into())
            })?;
            checkers.threads.push(thread);
        }
        drop(giver);
        started.wait().into_iter().collect::<Result<(), Errno>>().map_err(pinning)?;
        Ok(checkers)
    }

    /// Have a block checked that was read into `bytes`. It is `now`, in ticks;
    /// a batch waits at most `patience` ticks for more blocks.
    pub(super) fn add(
        &mut self,
        entry: Planned,
        check: BlockCheck,
        bytes: &[u8],
        [now, patience]: [u64; 2],
    ) {
        if self.filling.checks.is_empty() {
            self.began = now;
        }
        let start = self.filling.bytes.len();
        self.filling.bytes.extend_from_slice(bytes);
        self.filling.checks.push((entry, check, start..start + bytes.len()));
        let is_full = self.filling.bytes.len() >= BATCH_BYTES;
        if is_full || now.wrapping_sub(self.began) >= patience {
            self.hand_over();
        }
    }

    /// Hand the batch to the threads, and take an empty one, if need be after
    /// a wait.
    fn hand_over(&mut self) {
        let mut lists = self.exchange.lock();
        while lists.empty.is_empty() && lists.checked.broken.is_none() {
            lists = self.exchange.wait(lists);
        }
        match lists.empty.pop() {
            Some(empty) => lists.ready.push_back(std::mem::replace(&mut self.filling, empty)),
            // Nobody is left to check it: the job is about to fail for that.
            None => self.filling.clear(),
        }
        drop(lists);
        self.exchange.work.notify_one();
    }

    /// What was checked so far, if a wrong block is among it, or checking failed.
    pub(super) fn take_if_wrong(&self) -> Option<Checked> {
        // Whatever is written before `found` is read under the lock.
        self.exchange.found.load(Ordering::Relaxed).then(|| self.take(&mut self.exchange.lock()))
    }

    /// Wait until everything is checked, or cannot be.
    pub(super) fn finish(&mut self) -> Checked {
        if !self.filling.checks.is_empty() {
            self.hand_over();
        }
        let mut lists = self.exchange.lock();
        while lists.checked.broken.is_none() && (lists.busy > 0 || !lists.ready.is_empty()) {
            lists = self.exchange.wait(lists);
        }
        self.take(&mut lists)
    }

    fn take(&self, lists: &mut Lists) -> Checked {
        self.exchange.found.store(false, Ordering::Relaxed);
        let broken = lists.checked.broken.clone();
        std::mem::replace(&mut lists.checked, Checked { broken, ..Checked::default() })
    }
}

impl Drop for Checkers {
    fn drop(&mut self) {
        self.exchange.lock().closed = true;
        self.exchange.work.notify_all();
        for thread in self.threads.drain(..) {
            // One that panicked was reported as a failure.
            let _ = thread.join();
        }
    }
}

fn pinning(errno: Errno) -> Failure {
    Failure {
        detail: Some("the processors of verify_async_cpus are not available"),
        ..Failure::engine("pin a thread of verify_async", errno)
    }
}

impl CheckBatch {
    fn clear(&mut self) {
        self.bytes.clear();
        self.checks.clear();
    }
}

impl CheckExchange {
    /// Checking failed, and the job is to hear of it.
    fn fail(&self, failure: Failure) {
        self.lock().checked.broken.get_or_insert(failure);
        self.found.store(true, Ordering::Relaxed);
        self.done.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, lists: MutexGuard<'a, Lists>) -> MutexGuard<'a, Lists> {
        self.done.wait(lists).unwrap_or_else(PoisonError::into_inner)
    }

    /// Check batches until no more come.
    fn serve(&self, format: &BlockFormat) {
        let mut scratch = Vec::new();
        while let Some(batch) = self.next() {
            let mut at_work = AtWork { exchange: self, batch, checked: Checked::default() };
            let CheckBatch { bytes, checks } = &mut at_work.batch;
            for (entry, check, place) in checks.iter() {
                let block = &mut bytes[place.clone()];
                at_work.checked.blocks += 1;
                if let Err(mismatch) = check.run(format, block, &mut scratch) {
                    let wrong = WrongBlock::new(entry, mismatch, block.to_vec());
                    at_work.checked.wrong.push((*entry, wrong));
                }
            }
            checks.clear();
        }
    }

    fn next(&self) -> Option<CheckBatch> {
        let mut lists = self.lock();
        loop {
            if let Some(batch) = lists.ready.pop_front() {
                lists.busy += 1;
                return Some(batch);
            }
            if lists.closed {
                return None;
            }
            lists = self.work.wait(lists).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A batch that a thread has at hand. However that ends, the job hears of it.
struct AtWork<'a> {
    exchange: &'a CheckExchange,
    batch: CheckBatch,
    checked: Checked,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if !self.batch.checks.is_empty() {
            let detail = Some("a defect of iosonde, please report it: a check panicked");
            self.exchange.fail(Failure { detail, ..Failure::engine("verify", Errno::EIO) });
        }
        let mut lists = self.exchange.lock();
        lists.busy -= 1;
        if !self.checked.wrong.is_empty() {
            self.exchange.found.store(true, Ordering::Relaxed);
        }
        lists.checked.blocks += self.checked.blocks;
        lists.checked.wrong.append(&mut self.checked.wrong);
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        lists.empty.push(batch);
        drop(lists);
        self.exchange.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Op;
    use iosonde_verify::{BlockContent, BlockIdentity, BlockType, Expected};

    const BLOCK: usize = 4096;

    fn format() -> BlockFormat {
        BlockFormat::new(BlockType::Crc32c, 0, 0, BlockContent::Seeded, BLOCK).unwrap()
    }

    /// Have `blocks` blocks checked, every tenth of them wrong: how many were,
    /// and how many were found wrong.
    fn check(checkers: &mut Checkers, blocks: u64, patience: u64) -> (u64, usize) {
        let mut total = (0, 0);
        let mut add = |checked: Checked| {
            assert!(checked.broken.is_none());
            total = (total.0 + checked.blocks, total.1 + checked.wrong.len());
        };
        for number in 0..blocks {
            let offset = number * BLOCK as u64;
            let entry = Planned { offset, len: BLOCK as u32, op: Op::Read, ..Planned::default() };
            let mut block = vec![0; BLOCK];
            let identity = BlockIdentity { seed: number, offset, number, ..Default::default() };
            format().make(&mut block, &identity);
            block[1000] ^= u8::from(number % 10 == 9);
            let expected = Expected { offset, seed: Some(number), number: Some(number) };
            let check = BlockCheck { expected, trimmed: false };
            checkers.add(entry, check, &block, [number, patience]);
            checkers.take_if_wrong().into_iter().for_each(&mut add);
        }
        add(checkers.finish());
        total
    }

    #[test]
    fn each_block_is_checked_however_many_threads_there_are() {
        for threads in [1, 3] {
            for patience in [0, 5, u64::MAX] {
                let start: CheckerStart = Arc::new(|| Ok(()));
                let mut checkers = Checkers::start(threads, &format(), &start).unwrap();
                for blocks in [0, 1, 1000] {
                    let wrong = blocks as usize / 10;
                    assert_eq!(check(&mut checkers, blocks, patience), (blocks, wrong));
                }
                let spares = checkers.exchange.lock().empty.len();
                assert_eq!(spares, 2 * threads as usize, "no batch is made meanwhile, or lost");
                let left = Arc::downgrade(&checkers.exchange);
                drop(checkers);
                assert_eq!(left.strong_count(), 0, "its threads have ended");
            }
        }
    }

    #[test]
    fn blocks_wait_for_others_until_there_are_many_or_the_time_is_up() {
        // Nobody takes what is handed over.
        let start: CheckerStart = Arc::new(|| Ok(()));
        let mut checkers = Checkers::start(0, &format(), &start).unwrap();
        checkers.exchange.lock().empty.resize_with(2, CheckBatch::default);
        let expected = Expected { offset: 0, seed: None, number: None };
        let check = BlockCheck { expected, trimmed: false };
        let mut add = |bytes, now| {
            checkers.add(Planned::default(), check, &vec![0; bytes], [now, 100]);
            checkers
                .exchange
                .lock()
                .ready
                .iter()
                .map(|batch| batch.checks.len())
                .collect::<Vec<_>>()
        };
        assert!(add(BATCH_BYTES - 1, 1000).is_empty());
        assert_eq!(add(1, 1000), [2]);
        assert_eq!(add(1, 2000), [2], "a time of its own");
        assert_eq!(add(1, 2099), [2]);
        assert_eq!(add(1, 2100), [2, 3]);
        // Once checking has failed, nothing is waited for.
        assert!(checkers.take_if_wrong().is_none());
        checkers.exchange.fail(Failure::engine("verify", Errno::EIO));
        assert!(checkers.take_if_wrong().is_some_and(|checked| checked.broken.is_some()));
        checkers.add(Planned::default(), check, &vec![0; BATCH_BYTES], [0, 100]);
        assert!(checkers.filling.checks.is_empty() && checkers.filling.bytes.is_empty());
    }

    #[test]
    fn a_wrong_block_is_told_at_once_and_the_end_waits_for_what_is_being_checked() {
        let start: CheckerStart = Arc::new(|| Ok(()));
        let mut checkers = Checkers::start(1, &format(), &start).unwrap();
        let expected = Expected { offset: 0, seed: None, number: None };
        let check = BlockCheck { expected, trimmed: false };
        let mut right = vec![0; BLOCK];
        format().make(&mut right, &BlockIdentity::default());
        for (block, is_wrong) in [(right, false), (vec![0; BLOCK], true)] {
            checkers.add(Planned::default(), check, &block, [0, 0]);
            let mut lists = checkers.exchange.lock();
            while lists.checked.blocks == u64::from(is_wrong) {
                lists = checkers.exchange.wait(lists);
            }
            drop(lists);
            let told = checkers.take_if_wrong().map(|checked| checked.wrong.len());
            assert_eq!(told, is_wrong.then_some(1));
        }
        checkers.exchange.lock().busy += 1;
        let exchange = checkers.exchange.clone();
        let other = std::thread::spawn(move || {
            let mut lists = exchange.lock();
            (lists.busy, lists.checked.blocks) = (lists.busy - 1, 7);
            exchange.done.notify_all();
        });
        assert_eq!(checkers.finish().blocks, 7);
        other.join().unwrap();
    }

    #[test]
    fn a_thread_that_cannot_start_is_an_error() {
        let start: CheckerStart = Arc::new(|| Err(Errno::EINVAL));
        let failure = Checkers::start(2, &format(), &start).err().unwrap();
        assert_eq!(failure.errno, Errno::EINVAL);
        assert!(failure.detail.is_some_and(|words| words.contains("verify_async_cpus")));
    }

    #[test]
    fn a_check_that_panics_fails_the_job_and_does_not_block_it() {
        let start: CheckerStart = Arc::new(|| Ok(()));
        let mut checkers = Checkers::start(1, &format(), &start).unwrap();
        let check = BlockCheck {
            expected: Expected { offset: 0, seed: None, number: None },
            trimmed: false,
        };
        // No block is so short: a header does not fit.
        checkers.filling.checks.push((Planned::default(), check, 4..7));
        let broken = checkers.finish().broken.unwrap();
        assert_eq!(broken.doing, "verify");
        assert!(broken.detail.is_some_and(|words| words.contains("report it")), "{broken:?}");
        assert!(checkers.finish().broken.is_some(), "nor does it heal");
    }
}
