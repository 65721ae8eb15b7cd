//! Verify in the loop: content before a write is issued, the check of what a
//! read brought.

use crate::Memory;
use iosonde_base::{FileId, Planned};
use iosonde_sys::clock::Clock;
use iosonde_verify::{Mismatch, VerifyJob};

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

/// Called with each wrong block, on the job's own thread.
pub type OnWrongBlock = Box<dyn FnMut(&WrongBlock) + Send>;

/// Verify of one job.
pub struct Verifying {
    /// What each I/O is to verify, and what comes next.
    pub job: VerifyJob,
    /// When the job's clock began, in ticks: headers count from here.
    epoch: u64,
    on_wrong: OnWrongBlock,
}

impl Verifying {
    /// Verify as `job` says, and hand each wrong block to `on_wrong`.
    pub fn new(job: VerifyJob, epoch: u64, on_wrong: OnWrongBlock) -> Verifying {
        Verifying { job, epoch, on_wrong }
    }

    /// An I/O is about to be issued from the buffer of `slot`.
    pub(crate) fn issue(&mut self, memory: &mut Memory, clock: &Clock, entry: &Planned, slot: u32) {
        let ns = clock.ticks_to_ns(clock.now().wrapping_sub(self.epoch));
        // Seconds wrap after 136 years, as the field in the header does.
        let time = ((ns / 1_000_000_000) as u32, (ns % 1_000_000_000) as u32);
        memory.change(slot, entry.len, |buffer| {
            self.job.issue(slot as usize, entry, buffer, time);
        });
    }

    /// An I/O has completed, wholly (`done`) or with an error. Whether it is
    /// what it should be.
    pub(crate) fn complete(
        &mut self,
        memory: &mut Memory,
        entry: &Planned,
        slot: u32,
        done: bool,
    ) -> bool {
        let mut wrong = None;
        memory.change(slot, entry.len, |buffer| {
            if let Err(mismatch) = self.job.complete(slot as usize, entry, buffer, done) {
                wrong = Some((mismatch, buffer.to_vec()));
            }
        });
        let Some((mismatch, read)) = wrong else { return true };
        let Planned { file, offset, len, .. } = *entry;
        (self.on_wrong)(&WrongBlock { file, offset, len, mismatch, read });
        false
    }
}
