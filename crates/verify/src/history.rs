//! The writes of a pass that are still to be checked.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// A write that is remembered until it has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Index of the file in its job.
    pub file: u32,
    /// Byte offset in the file.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// Number of the write within its job, from 0.
    pub number: u64,
}

impl Written {
    fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.len))
    }

    /// Whether `next` is the write that a sequential job does after this.
    fn is_followed_by(&self, next: &Written) -> bool {
        next.file == self.file
            && next.len == self.len
            && next.offset == self.end()
            && next.number == self.number + 1
    }
}

/// In which order writes are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOrder {
    /// As they were issued. Only for jobs that write no place twice in a pass:
    /// nobody looks for overlaps.
    Issue,
    /// By file and offset. A write makes those forgotten that it overlaps.
    Offset,
}

/// Writes to be checked, in one of two orders.
///
/// Memory: at most 40 bytes for each write, a run of sequential writes of one
/// size together 32.
#[derive(Clone, Debug)]
pub struct History {
    kept: Kept,
    len: u64,
}

#[derive(Clone, Debug)]
enum Kept {
    Issue(VecDeque<WriteRun>),
    Offset(BTreeMap<(u32, u64), WrittenSpan>),
}

/// Writes that follow each other in place and number, of one length.
#[derive(Clone, Copy, Debug)]
struct WriteRun {
    first: Written,
    count: u32,
}

impl WriteRun {
    fn nth(&self, n: u32) -> Written {
        let Written { file, offset, len, number } = self.first;
        let offset = offset + u64::from(n) * u64::from(len);
        Written { file, offset, len, number: number + u64::from(n) }
    }

    /// The writes before the `n`th, and those after it.
    fn without(self, n: u32) -> [Option<WriteRun>; 2] {
        let run = |from: u32, count| (count > 0).then(|| WriteRun { first: self.nth(from), count });
        [run(0, n), run(n + 1, self.count - n - 1)]
    }
}

/// The recorded part of a write; file and offset are its key.
#[derive(Clone, Copy, Debug)]
struct WrittenSpan {
    len: u32,
    number: u64,
}

fn written((&(file, offset), span): (&(u32, u64), &WrittenSpan)) -> Written {
    Written { file, offset, len: span.len, number: span.number }
}

impl History {
    /// Nothing remembered yet.
    pub fn new(order: CheckOrder) -> History {
        let kept = match order {
            CheckOrder::Issue => Kept::Issue(VecDeque::new()),
            CheckOrder::Offset => Kept::Offset(BTreeMap::new()),
        };
        History { kept, len: 0 }
    }

    /// How many writes are to be checked.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Remember a write. What it replaces, wholly or in part, is forgotten and
    /// handed to `dropped`.
    pub fn remember(&mut self, write: Written, mut dropped: impl FnMut(Written)) {
        match &mut self.kept {
            Kept::Issue(runs) => match runs.back_mut() {
                Some(run)
                    if run.count < u32::MAX && run.nth(run.count - 1).is_followed_by(&write) =>
                {
                    run.count += 1;
                }
                _ => runs.push_back(WriteRun { first: write, count: 1 }),
            },
            Kept::Offset(spans) => {
                while let Some(older) = overlapped(spans, &write) {
                    spans.remove(&(older.file, older.offset));
                    self.len -= 1;
                    dropped(older);
                }
                let span = WrittenSpan { len: write.len, number: write.number };
                spans.insert((write.file, write.offset), span);
            }
        }
        self.len += 1;
    }

    /// The write that is to be checked next.
    pub fn first(&self) -> Option<Written> {
        match &self.kept {
            Kept::Issue(runs) => runs.front().map(|run| run.first),
            Kept::Offset(spans) => spans.first_key_value().map(written),
        }
    }

    /// Take the write that is to be checked next.
    pub fn pop(&mut self) -> Option<Written> {
        let write = self.first()?;
        match &mut self.kept {
            Kept::Issue(runs) => {
                let run = runs.front_mut()?;
                run.count -= 1;
                match run.count {
                    0 => drop(runs.pop_front()),
                    _ => run.first = WriteRun { first: run.first, count: 2 }.nth(1),
                }
            }
            Kept::Offset(spans) => drop(spans.pop_first()),
        }
        self.len -= 1;
        Some(write)
    }

    /// Forget a write, such as one that failed. Whether it was remembered.
    pub fn forget(&mut self, write: &Written) -> bool {
        let found = match &mut self.kept {
            Kept::Issue(runs) => forget_in_runs(runs, write.number),
            Kept::Offset(spans) => {
                let key = (write.file, write.offset);
                let same = spans.get(&key).is_some_and(|span| span.number == write.number);
                same && spans.remove(&key).is_some()
            }
        };
        self.len -= u64::from(found);
        found
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        match &mut self.kept {
            Kept::Issue(runs) => runs.clear(),
            Kept::Offset(spans) => spans.clear(),
        }
        self.len = 0;
    }
}

/// A remembered write that shares a byte with `write`.
fn overlapped(spans: &BTreeMap<(u32, u64), WrittenSpan>, write: &Written) -> Option<Written> {
    // Those remembered do not overlap each other: the last one that begins before the end of
    // this one reaches farthest.
    let range = (Bound::Unbounded, Bound::Excluded((write.file, write.end())));
    let last = spans.range(range).next_back().map(written)?;
    (last.file == write.file && last.end() > write.offset).then_some(last)
}

/// Numbers ascend from run to run.
fn forget_in_runs(runs: &mut VecDeque<WriteRun>, number: u64) -> bool {
    let Some(at) = runs.partition_point(|run| run.first.number <= number).checked_sub(1) else {
        return false;
    };
    let run = runs[at];
    let within = number - run.first.number;
    if within >= u64::from(run.count) {
        return false;
    }
    // Below the count, so it fits.
    let [before, after] = run.without(within as u32);
    match (before, after) {
        (None, None) => drop(runs.remove(at)),
        (Some(one), None) | (None, Some(one)) => runs[at] = one,
        (Some(before), Some(after)) => {
            runs[at] = before;
            runs.insert(at + 1, after);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(history: &mut History) -> Vec<Written> {
        std::iter::from_fn(|| history.pop()).collect()
    }

    #[test]
    fn a_sequential_job_of_a_tebibyte_is_one_run() {
        let mut history = History::new(CheckOrder::Issue);
        for number in 0..1 << 20 {
            let write = Written { file: 0, offset: number * 4096, len: 4096, number };
            history.remember(write, |_| unreachable!());
        }
        let Kept::Issue(runs) = &history.kept else { unreachable!() };
        assert_eq!((runs.len(), history.len()), (1, 1 << 20));
        assert!(size_of::<WriteRun>() <= 40);
    }

    #[test]
    fn a_write_in_the_middle_of_a_run_is_forgotten() {
        let write = |number| Written { file: 3, offset: 100 + number * 8, len: 8, number };
        let mut history = History::new(CheckOrder::Issue);
        (0..5).for_each(|n| history.remember(write(n), |_| {}));
        assert!(history.forget(&write(2)));
        assert!(!history.forget(&write(2)));
        assert!(!history.forget(&write(9)));
        assert_eq!(drain(&mut history), [write(0), write(1), write(3), write(4)]);
        assert!(history.is_empty());
    }

    /// Any mixture of what happens to a history.
    #[derive(Clone, Debug)]
    enum HistoryStep {
        Remember(u32, u64, u32),
        Pop,
        Forget(prop::sample::Index),
    }

    fn steps() -> impl Strategy<Value = Vec<HistoryStep>> {
        let step = prop_oneof![
            6 => (0u32..3, 0u64..64, 1u32..9).prop_map(|(file, offset, len)| HistoryStep::Remember(file, offset, len)),
            1 => Just(HistoryStep::Pop),
            1 => any::<prop::sample::Index>().prop_map(HistoryStep::Forget),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        #[test]
        fn both_orders_are_as_a_plain_list_would_be(steps in steps(), by_offset: bool) {
            let order = if by_offset { CheckOrder::Offset } else { CheckOrder::Issue };
            let mut history = History::new(order);
            let mut plain: Vec<Written> = Vec::new();
            let mut number = 0;
            for step in steps {
                match step {
                    HistoryStep::Remember(file, offset, len) => {
                        let write = Written { file, offset, len, number };
                        number += 1;
                        let mut dropped = Vec::new();
                        history.remember(write, |older| dropped.push(older));
                        if by_offset {
                            let hit = |old: &Written| old.file == file && old.offset < write.end() && offset < old.end();
                            let mut wanted: Vec<Written> = plain.iter().copied().filter(hit).collect();
                            plain.retain(|old| !hit(old));
                            wanted.sort_by_key(|old| old.number);
                            dropped.sort_by_key(|old| old.number);
                            prop_assert_eq!(dropped, wanted);
                        }
                        plain.push(write);
                        if by_offset {
                            plain.sort_by_key(|old| (old.file, old.offset));
                        }
                    }
                    HistoryStep::Pop => {
                        let wanted = (!plain.is_empty()).then(|| plain.remove(0));
                        prop_assert_eq!(history.pop(), wanted);
                    }
                    HistoryStep::Forget(which) if !plain.is_empty() => {
                        let write = plain.remove(which.index(plain.len()));
                        prop_assert!(history.forget(&write));
                    }
                    HistoryStep::Forget(_) => {}
                }
                prop_assert_eq!(history.len(), plain.len() as u64);
                prop_assert_eq!(history.first(), plain.first().copied());
            }
            prop_assert_eq!(drain(&mut history), plain);
        }
    }
}
