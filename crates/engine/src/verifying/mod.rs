//! Verify in the loop: content before a write is issued, the check of what a
//! read brought.

mod checkers;

pub use checkers::{CheckerStart, Checkers};

use crate::{Failure, Memory};
use checkers::{BATCH_NS, Checked};
use iosonde_base::{FileId, Planned};
use iosonde_sys::clock::Clock;
use iosonde_verify::{Mismatch, VerifyJob};
use std::collections::VecDeque;

/// A block that is not what was written.
#[derive(Clone, Debug)]
pub struct WrongBlock {
    /// The file.
    pub file: FileId,
    /// Byte offset of the I/O that read it.
    pub offset: u64,
    /// Bytes of that I/O.
    pub len: u32,
    /// Its first wrong interval, and what is wrong with it.
    pub mismatch: Mismatch,
    /// The I/O as it was read, headers in front of their intervals.
    pub read: Vec<u8>,
}

impl WrongBlock {
    fn new(entry: &Planned, mismatch: Mismatch, read: Vec<u8>) -> WrongBlock {
        let Planned { file, offset, len, .. } = *entry;
        WrongBlock { file, offset, len, mismatch, read }
    }
}

/// Called with each wrong block, on the job's own thread.
pub type OnWrongBlock = Box<dyn FnMut(&WrongBlock) + Send>;

/// Verify of one job.
pub struct Verifying {
    /// What each I/O is to verify, and what comes next.
    pub job: VerifyJob,
    /// When the job's clock began, in ticks: headers count from here.
    epoch: u64,
    on_wrong: OnWrongBlock,
    /// Threads that check; without them the job does it itself.
    checkers: Option<Checkers>,
    /// The reads that brought wrong blocks, not judged yet.
    wrong: VecDeque<Planned>,
    /// Why blocks cannot be checked.
    broken: Option<Failure>,
    scratch: Vec<u8>,
}

impl Verifying {
    /// Verify as `job` says, by `checkers` if there are any, and hand each wrong
    /// block to `on_wrong`.
    pub fn new(
        job: VerifyJob,
        epoch: u64,
        checkers: Option<Checkers>,
        on_wrong: OnWrongBlock,
    ) -> Verifying {
        let (wrong, broken, scratch) = Default::default();
        Verifying { job, epoch, on_wrong, checkers, wrong, broken, scratch }
    }

    /// An I/O is about to be issued from the buffer of `slot`.
    pub(crate) fn issue(&mut self, memory: &mut Memory, clock: &Clock, entry: &Planned, slot: u32) {
        let epoch = self.epoch;
        let time = || {
            let ns = clock.ticks_to_ns(clock.now().wrapping_sub(epoch));
            // Seconds wrap after 136 years, as the field in the header does.
            ((ns / 1_000_000_000) as u32, (ns % 1_000_000_000) as u32)
        };
        if let Some(identity) = self.job.issue(slot as usize, entry, time) {
            let format = self.job.format();
            memory.change(slot, entry.len, |buffer| format.make(buffer, &identity));
        }
    }

    /// An I/O has completed, wholly (`done`) or with an error: check what it
    /// read, or have it checked. Wrong blocks that are known now are to be had
    /// from [`Verifying::next_wrong`].
    pub(crate) fn complete(
        &mut self,
        memory: &mut Memory,
        clock: &Clock,
        entry: &Planned,
        slot: u32,
        done: bool,
    ) {
        let Some(check) = self.job.complete(slot as usize, entry, done) else { return };
        let Some(checkers) = &mut self.checkers else {
            let (format, scratch) = (self.job.format(), &mut self.scratch);
            let mut wrong = None;
            memory.change(slot, entry.len, |buffer| {
                if let Err(mismatch) = check.run(format, buffer, scratch) {
                    wrong = Some(WrongBlock::new(entry, mismatch, buffer.to_vec()));
                }
            });
            match wrong {
                None => self.job.count_checked(1, 0),
                Some(wrong) => {
                    let wrong = vec![(*entry, wrong)];
                    self.note(Checked { blocks: 1, wrong, broken: None });
                }
            }
            return;
        };
        let times = [clock.now(), clock.ns_to_ticks(BATCH_NS)];
        memory.change(slot, entry.len, |buffer| checkers.add(*entry, check, buffer, times));
        if let Some(checked) = checkers.take_if_wrong() {
            self.note(checked);
        }
    }

    /// Wait until everything that was read is checked.
    pub(crate) fn finish(&mut self) {
        if let Some(checkers) = &mut self.checkers {
            let checked = checkers.finish();
            self.note(checked);
        }
    }

    /// Count what was checked, and tell of wrong blocks.
    fn note(&mut self, checked: Checked) {
        self.job.count_checked(checked.blocks, checked.wrong.len() as u64);
        for (entry, wrong) in &checked.wrong {
            (self.on_wrong)(wrong);
            self.wrong.push_back(*entry);
        }
        self.broken = checked.broken;
    }

    /// Whether nothing is to be judged.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.wrong.is_empty() && self.broken.is_none()
    }

    /// The next read that brought a wrong block.
    #[inline]
    pub(crate) fn next_wrong(&mut self) -> Option<Planned> {
        self.wrong.pop_front()
    }

    /// Why blocks cannot be checked, if they cannot.
    #[inline]
    pub(crate) fn take_broken(&mut self) -> Option<Failure> {
        self.broken.take()
    }
}
