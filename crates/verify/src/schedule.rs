//! Which verify reads and trims come among the writes of a pass, and which
//! after them.

use crate::history::{CheckOrder, History, Written};
use std::collections::{BTreeMap, BTreeSet};

/// When written blocks are read back or trimmed (`verify_backlog`,
/// `trim_backlog` and their batches, `trim_verify_zero`, `do_verify`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlogs {
    /// Whether writes are read back at all.
    pub verify: bool,
    /// Verify reads begin after so many writes; 0: after all of them.
    pub verify_after: u64,
    /// How many verify reads each time; 0: as many as `verify_after`.
    pub verify_batch: u64,
    /// Trims begin after so many writes; 0: nothing is trimmed.
    pub trim_after: u64,
    /// How many trims each time; 0: as many as `trim_after`.
    pub trim_batch: u64,
    /// Whether trimmed blocks are read back, as zeroes; else they are
    /// forgotten.
    pub trimmed_are_zero: bool,
}

/// What the I/O that completed last was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastDone {
    /// A read of the job or of verify.
    Read,
    /// A trim.
    Trim,
    /// A write, or nothing yet.
    Other,
}

/// What comes before the next I/O of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockDue {
    /// Read this block and check it. `trimmed`: it must be zeroes.
    Verify {
        /// The block.
        write: Written,
        /// Whether it was trimmed.
        trimmed: bool,
    },
    /// Trim this block.
    Trim(Written),
    /// Nothing: go on with the job.
    Nothing,
}

/// The blocks of a pass, and what is to be done with them.
#[derive(Clone, Debug)]
pub struct VerifySchedule {
    backlogs: Backlogs,
    history: History,
    verify_left: u64,
    trim_left: u64,
    /// Marked to be trimmed, by number: in the order of writing.
    marked: BTreeMap<u64, Written>,
    /// Numbers of those that were trimmed and are still to be read.
    trimmed: BTreeSet<u64>,
}

impl VerifySchedule {
    /// For a pass in which nothing was written yet.
    pub fn new(backlogs: Backlogs, order: CheckOrder) -> VerifySchedule {
        VerifySchedule {
            backlogs,
            history: History::new(order),
            verify_left: 0,
            trim_left: 0,
            marked: BTreeMap::new(),
            trimmed: BTreeSet::new(),
        }
    }

    /// Whether writes are remembered at all.
    pub fn remembers(&self) -> bool {
        self.backlogs.verify || self.backlogs.trim_after > 0
    }

    /// A write is about to be issued. `mark`: it was drawn to be trimmed later.
    #[inline]
    pub fn wrote(&mut self, write: Written, mark: bool) {
        if !self.remembers() {
            return;
        }
        let (marked, trimmed) = (&mut self.marked, &mut self.trimmed);
        self.history.remember(write, |older| {
            marked.remove(&older.number);
            trimmed.remove(&older.number);
        });
        if mark {
            self.marked.insert(write.number, write);
        }
    }

    /// A write failed: it is neither checked nor trimmed.
    pub fn failed(&mut self, write: &Written) {
        self.history.forget(write);
        self.marked.remove(&write.number);
    }

    /// How many blocks are still to be checked.
    pub fn unchecked(&self) -> u64 {
        self.history.len()
    }

    /// How many blocks are marked and were not trimmed.
    pub fn untrimmed(&self) -> u64 {
        self.marked.len() as u64
    }

    /// What comes before the next I/O of the job: verify reads first, then
    /// trims. A block whose write `is_in_flight`, by its number, waits.
    pub fn due(&mut self, last: LastDone, is_in_flight: impl Fn(u64) -> bool) -> BlockDue {
        let written = |write: &Written| !is_in_flight(write.number);
        if self.backlogs.verify_after > 0
            && self.verify_is_due(last)
            && self.history.first().is_some_and(|first| written(&first))
        {
            self.verify_left -= 1;
            if let Some((write, trimmed)) = self.take() {
                return BlockDue::Verify { write, trimmed };
            }
        }
        let oldest = self.marked.first_key_value().map(|(_, write)| *write);
        if let Some(write) = oldest.filter(written)
            && self.trim_is_due(last)
        {
            self.marked.remove(&write.number);
            if self.backlogs.trimmed_are_zero {
                self.trimmed.insert(write.number);
            } else {
                self.history.forget(&write);
            }
            return BlockDue::Trim(write);
        }
        if oldest.is_none() {
            self.trim_left = 0;
        }
        BlockDue::Nothing
    }

    fn verify_is_due(&mut self, last: LastDone) -> bool {
        let Backlogs { verify_after, verify_batch, .. } = self.backlogs;
        if self.history.is_empty() {
            return false;
        }
        if self.verify_left == 0 {
            if !self.history.len().is_multiple_of(verify_after) || last == LastDone::Read {
                return false;
            }
            self.verify_left = if verify_batch == 0 { verify_after } else { verify_batch };
        }
        true
    }

    fn trim_is_due(&mut self, last: LastDone) -> bool {
        let Backlogs { trim_after, trim_batch, .. } = self.backlogs;
        if trim_after == 0 {
            return false;
        }
        if self.marked.is_empty() {
            self.trim_left = 0;
            return false;
        }
        if self.trim_left == 0 {
            if !self.history.len().is_multiple_of(trim_after) || last == LastDone::Trim {
                return false;
            }
            self.trim_left = if trim_batch == 0 { trim_after } else { trim_batch };
        }
        self.trim_left -= 1;
        true
    }

    /// The next block of the verify phase, and whether it was trimmed.
    #[inline]
    pub fn take(&mut self) -> Option<(Written, bool)> {
        if !self.backlogs.verify {
            return None;
        }
        let write = self.history.pop()?;
        // Most jobs trim nothing, and where the checks are in the order of the writes the first
        // number tells of most: neither is searched.
        let may_have = |first: Option<&u64>| first.is_some_and(|first| *first <= write.number);
        if may_have(self.marked.first_key_value().map(|(number, _)| number)) {
            self.marked.remove(&write.number);
        }
        let trimmed = may_have(self.trimmed.first()) && self.trimmed.remove(&write.number);
        Some((write, trimmed))
    }

    /// How many more I/Os of the job nothing comes between, if each write is remembered beside the
    /// others; at least one.
    pub fn room(&self) -> u64 {
        let Backlogs { verify_after, trim_after, .. } = self.backlogs;
        let len = self.history.len();
        let until = |after: u64, left: u64| match after {
            0 => u64::MAX,
            // A batch goes on as soon as there is something for it.
            _ if left > 0 => 1,
            // Due, unless the last I/O was of a kind that puts it off; a read leaves it so.
            after if len > 0 && len.is_multiple_of(after) => 1,
            after => after - len % after,
        };
        until(verify_after, self.verify_left).min(until(trim_after, self.trim_left))
    }

    /// Forget everything, for the next pass.
    pub fn clear(&mut self) {
        self.history.clear();
        self.marked.clear();
        self.trimmed.clear();
        (self.verify_left, self.trim_left) = (0, 0);
    }
}
