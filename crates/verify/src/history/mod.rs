//! The writes of a pass that are still to be checked.

mod by_issue;
mod by_offset;

use by_issue::IssueOrder;
use by_offset::OffsetOrder;

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
    #[inline]
    fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.len))
    }

    /// Whether `next` is the write that a sequential job does after this.
    #[inline]
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
/// size together as much.
#[derive(Clone, Debug)]
pub struct History {
    kept: Kept,
    len: u64,
}

#[derive(Clone, Debug)]
enum Kept {
    Issue(IssueOrder),
    Offset(OffsetOrder),
}

impl History {
    /// Nothing remembered yet.
    pub fn new(order: CheckOrder) -> History {
        let kept = match order {
            CheckOrder::Issue => Kept::Issue(IssueOrder::default()),
            CheckOrder::Offset => Kept::Offset(OffsetOrder::default()),
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
    #[inline]
    pub(crate) fn remember(&mut self, write: Written, mut dropped: impl FnMut(Written)) {
        match &mut self.kept {
            Kept::Issue(order) => order.remember(write),
            Kept::Offset(order) => order.remember(write, |older| {
                self.len -= 1;
                dropped(older);
            }),
        }
        self.len += 1;
    }

    /// The write that is to be checked next.
    pub fn first(&self) -> Option<Written> {
        match &self.kept {
            Kept::Issue(order) => order.first(),
            Kept::Offset(order) => order.first(),
        }
    }

    /// Take the write that is to be checked next.
    #[inline]
    pub fn pop(&mut self) -> Option<Written> {
        let write = match &mut self.kept {
            Kept::Issue(order) => order.pop(),
            Kept::Offset(order) => order.pop(),
        }?;
        self.len -= 1;
        Some(write)
    }

    /// Forget a write, such as one that failed. Whether it was remembered.
    pub fn forget(&mut self, write: &Written) -> bool {
        let found = match &mut self.kept {
            Kept::Issue(order) => order.forget(write.number),
            Kept::Offset(order) => order.forget(write),
        };
        self.len -= u64::from(found);
        found
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        let order = match self.kept {
            Kept::Issue(_) => CheckOrder::Issue,
            Kept::Offset(_) => CheckOrder::Offset,
        };
        *self = History::new(order);
    }
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
        let Kept::Issue(order) = &history.kept else { unreachable!() };
        assert_eq!((order.runs(), history.len()), (1, 1 << 20));
        let mut history = History::new(CheckOrder::Offset);
        for number in 0..4 << 16 {
            let write = Written { file: 0, offset: number % (1 << 16) * 4096, len: 4096, number };
            history.remember(write, |_| {});
        }
        let Kept::Offset(order) = &history.kept else { unreachable!() };
        assert!(order.runs() <= 4, "{}", order.runs());
        assert_eq!(history.len(), 1 << 16);
        assert_eq!(history.first().map(|write| write.number), Some(3 << 16));
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
