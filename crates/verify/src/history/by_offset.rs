//! Writes in the order of file and offset, of each place the last one.

use super::Written;
use std::collections::BTreeMap;

/// The last write to each place, those that follow each other as runs.
#[derive(Clone, Debug, Default)]
pub(super) struct OffsetOrder {
    /// By file, then by offset. None of the files is empty.
    files: BTreeMap<u32, BTreeMap<u64, OffsetRun>>,
    /// The number of the write that was remembered last.
    newest: u64,
}

/// Writes that follow each other in place and number, of one length. The file
/// and the first offset are its key.
///
/// Packed into twelve bytes, so that a node of the map with its keys takes
/// less than 40 for each at random offsets, where nodes are two thirds full.
#[derive(Clone, Copy, Debug)]
struct OffsetRun {
    len: u32,
    /// The number of the first, modulo 2^44, and how many there are less one,
    /// in the low 20 bits.
    packed: [u32; 2],
}

const _: () = assert!(size_of::<OffsetRun>() == 12, "the memory that a write takes");

/// Bits of the count.
const COUNT_BITS: u32 = 20;
/// Writes of a run at most.
const COUNT_MOST: u64 = 1 << COUNT_BITS;
/// Numbers are kept modulo this: 17 million million. The rest follows from the
/// newest one.
const NUMBERS: u64 = 1 << (64 - COUNT_BITS);

impl OffsetRun {
    fn new(len: u32, number: u64, count: u64) -> OffsetRun {
        let packed = number << COUNT_BITS | (count - 1);
        OffsetRun { len, packed: [packed as u32, (packed >> 32) as u32] }
    }

    fn packed(&self) -> u64 {
        u64::from(self.packed[0]) | u64::from(self.packed[1]) << 32
    }

    fn count(&self) -> u64 {
        self.packed() % COUNT_MOST + 1
    }

    /// The number of its first write.
    fn number(&self, newest: u64) -> u64 {
        let ago = newest.wrapping_sub(self.packed() >> COUNT_BITS) % NUMBERS;
        newest - ago
    }

    /// The run of this file that begins at `offset`.
    fn placed(&self, newest: u64, file: u32, offset: u64) -> PlacedWrite {
        let first = Written { file, offset, len: self.len, number: self.number(newest) };
        PlacedWrite { first, count: self.count() }
    }
}

/// A run with its place.
#[derive(Clone, Copy)]
struct PlacedWrite {
    first: Written,
    count: u64,
}

impl PlacedWrite {
    fn nth(&self, n: u64) -> Written {
        let Written { file, offset, len, number } = self.first;
        Written { file, offset: offset + n * u64::from(len), len, number: number + n }
    }

    fn end(&self) -> u64 {
        self.first.offset.saturating_add(self.count * u64::from(self.first.len))
    }
}

impl OffsetOrder {
    #[cfg(test)]
    pub fn runs(&self) -> usize {
        self.files.values().map(BTreeMap::len).sum()
    }

    /// Remember a write; those that it touches are forgotten and handed to
    /// `dropped`.
    pub(crate) fn remember(&mut self, write: Written, mut dropped: impl FnMut(Written)) {
        self.newest = self.newest.max(write.number);
        let newest = self.newest;
        let runs = self.files.entry(write.file).or_default();
        let mut before = None;
        if let Some((&start, run)) = runs.range_mut(..write.end()).next_back() {
            let placed = run.placed(newest, write.file, start);
            // A block that is written again.
            if placed.count == 1 && (start, run.len) == (write.offset, write.len) {
                *run = OffsetRun::new(write.len, write.number, 1);
                return dropped(placed.first);
            }
            before = Some(placed);
        }
        while let Some(run) = before.filter(|run| run.end() > write.offset) {
            self.remove(&run);
            let len = u64::from(run.first.len).max(1);
            let from = write.offset.saturating_sub(run.first.offset) / len;
            let to = ((write.end() - 1 - run.first.offset) / len).min(run.count - 1);
            (from..=to).for_each(|n| dropped(run.nth(n)));
            self.put(run.nth(0), from);
            self.put(run.nth(to + 1), run.count - to - 1);
            before = self.last_before(write.file, write.end());
        }
        // It begins before the write, and none lies between them.
        match before {
            Some(run)
                if run.nth(run.count - 1).is_followed_by(&write) && run.count < COUNT_MOST =>
            {
                self.put(run.first, run.count + 1);
            }
            _ => self.put(write, 1),
        }
    }

    /// The last run that begins before `offset`. Those remembered do not overlap
    /// each other: so it reaches farthest.
    fn last_before(&self, file: u32, offset: u64) -> Option<PlacedWrite> {
        let (&start, run) = self.files.get(&file)?.range(..offset).next_back()?;
        Some(run.placed(self.newest, file, start))
    }

    fn put(&mut self, first: Written, count: u64) {
        if count > 0 {
            let run = OffsetRun::new(first.len, first.number, count);
            self.files.entry(first.file).or_default().insert(first.offset, run);
        }
    }

    fn remove(&mut self, run: &PlacedWrite) {
        let Written { file, offset, .. } = run.first;
        if let Some(runs) = self.files.get_mut(&file) {
            runs.remove(&offset);
            if runs.is_empty() {
                self.files.remove(&file);
            }
        }
    }

    fn first_run(&self) -> Option<PlacedWrite> {
        let (&file, runs) = self.files.first_key_value()?;
        let (&offset, run) = runs.first_key_value()?;
        Some(run.placed(self.newest, file, offset))
    }

    pub fn first(&self) -> Option<Written> {
        self.first_run().map(|run| run.first)
    }

    pub fn pop(&mut self) -> Option<Written> {
        let mut runs = self.files.first_entry()?;
        let file = *runs.key();
        let first = runs.get_mut().first_entry()?;
        let run = first.get().placed(self.newest, file, *first.key());
        first.remove();
        if runs.get().is_empty() {
            runs.remove();
        }
        self.put(run.nth(1), run.count - 1);
        Some(run.first)
    }

    /// Forget a write. Whether it was remembered.
    pub fn forget(&mut self, write: &Written) -> bool {
        let Some(run) = self.last_before(write.file, write.offset.saturating_add(1)) else {
            return false;
        };
        let n = (write.offset - run.first.offset) / u64::from(run.first.len).max(1);
        if n >= run.count || run.nth(n) != *write {
            return false;
        }
        self.remove(&run);
        self.put(run.nth(0), n);
        self.put(run.nth(n + 1), run.count - n - 1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_those_that_fit_are_kept() {
        let mut order = OffsetOrder::default();
        for number in [NUMBERS - 1, NUMBERS, 3 * NUMBERS + 7] {
            let write = Written { file: 0, offset: 0, len: 8, number };
            order.remember(write, |_| {});
            assert_eq!(order.first(), Some(write));
        }
        let older = Written { file: 0, offset: 80, len: 8, number: 5 * NUMBERS };
        let newer = Written { file: 0, offset: 0, len: 8, number: 5 * NUMBERS + 9 };
        order.remember(older, |_| {});
        order.remember(newer, |_| {});
        assert_eq!((order.pop(), order.pop()), (Some(newer), Some(older)));
    }
}
