//! When a sync follows the writes.

use iosonde_base::Op;

use crate::spec::SyncEvery;

/// Counts writes and decides which sync is due.
#[derive(Debug)]
pub(crate) struct Syncs {
    every: SyncEvery,
    writes: u64,
    /// The last entry was a write, so a sync may be due.
    dirty: bool,
    /// The last entry was fsync or fdatasync.
    synced: bool,
}

impl Syncs {
    /// Nothing written yet.
    pub fn new(every: SyncEvery) -> Syncs {
        Syncs { every, writes: 0, dirty: false, synced: false }
    }

    /// An I/O has been planned.
    #[inline]
    pub fn issued(&mut self, op: Op) {
        self.dirty = op == Op::Write;
        self.synced = false;
        self.writes += u64::from(self.dirty);
    }

    /// As [`Syncs::issued`] of `count` I/Os.
    pub(crate) fn issued_all(&mut self, op: Op, count: u64) {
        self.issued(op);
        self.writes += if self.dirty { count - 1 } else { 0 };
    }

    /// How many writes in a row, `most` at most, are planned before a sync is due.
    pub(crate) fn room(&self, most: u64) -> u64 {
        let SyncEvery { fsync, fdatasync, range, after_last: _ } = self.every;
        let until = |every: u32| match u64::from(every) {
            0 => most,
            every if self.dirty && self.writes.is_multiple_of(every) => 0,
            every => every - self.writes % every,
        };
        [fsync, fdatasync, range].into_iter().map(until).fold(most, u64::min)
    }

    /// Whether the last thing done was a sync, and made files durable.
    pub fn last_was_sync(&self) -> bool {
        self.synced
    }

    /// A sync was done that was not planned here.
    pub fn note_sync(&mut self) {
        (self.dirty, self.synced) = (false, true);
    }

    /// The sync that follows the last write too: because one follows each of
    /// them, or because the job wants the last one done.
    pub(crate) fn due_after_each(&mut self) -> Option<Op> {
        let last = self.every.after_last;
        self.take(|every| every == 1 || last)
    }

    /// The sync that is due after so many writes, once.
    pub fn due(&mut self) -> Option<Op> {
        self.take(|every| every > 1)
    }

    fn take(&mut self, wanted: impl Fn(u32) -> bool) -> Option<Op> {
        if !self.dirty {
            return None;
        }
        let SyncEvery { fsync, fdatasync, range, after_last: _ } = self.every;
        let kinds = [(Op::Sync, fsync), (Op::DataSync, fdatasync), (Op::SyncRange, range)];
        let hit = |every: u32| every > 0 && self.writes.is_multiple_of(u64::from(every));
        let (op, every) = kinds.into_iter().find(|&(_, every)| hit(every))?;
        if !wanted(every) {
            return None;
        }
        // sync_file_range(2) makes nothing durable: the end of the job does.
        (self.dirty, self.synced) = (false, op != Op::SyncRange);
        Some(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syncs(fsync: u32, fdatasync: u32, range: u32) -> Syncs {
        Syncs::new(SyncEvery { fsync, fdatasync, range, after_last: false })
    }

    #[test]
    fn writes_are_planned_in_a_row_up_to_the_next_sync_and_none_while_it_is_due() {
        let mut syncs = syncs(4, 0, 6);
        let mut room = |writes| {
            if writes > 0 {
                syncs.issued_all(Op::Write, writes);
            }
            (syncs.room(3), syncs.room(64), syncs.due())
        };
        assert_eq!(room(0), (3, 4, None));
        assert_eq!(room(3), (1, 1, None));
        assert_eq!(room(1), (0, 0, Some(Op::Sync)));
        assert_eq!(room(0), (2, 2, None), "once it is done, up to the range's");
        assert_eq!(room(2), (0, 0, Some(Op::SyncRange)));
        syncs.issued(Op::Read);
        assert_eq!((syncs.room(64), syncs.due()), (2, None), "a read is no write");
    }

    #[test]
    fn what_made_all_durable_is_known_until_the_next_write() {
        for (op, [fsync, fdatasync, range]) in
            [(Op::Sync, [1, 0, 0]), (Op::DataSync, [0, 1, 0]), (Op::SyncRange, [0, 0, 1])]
        {
            let mut syncs = syncs(fsync, fdatasync, range);
            syncs.issued(Op::Write);
            assert!(!syncs.last_was_sync());
            assert_eq!((syncs.due(), syncs.due_after_each()), (None, Some(op)), "of each write");
            assert_eq!(syncs.last_was_sync(), op != Op::SyncRange);
            assert_eq!(syncs.due_after_each(), None, "once");
        }
        let mut syncs = syncs(0, 0, 0);
        syncs.issued(Op::Write);
        syncs.note_sync();
        assert!(syncs.last_was_sync());
        syncs.issued(Op::Read);
        assert!(!syncs.last_was_sync());
    }
}
