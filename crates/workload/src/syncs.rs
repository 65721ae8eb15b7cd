//! When a sync follows the writes.

use iosonde_base::Op;

use crate::spec::SyncEvery;

/// Counts writes and says which sync is due.
#[derive(Debug)]
pub(crate) struct Syncs {
    every: SyncEvery,
    writes: u64,
    /// The last entry was a write, so a sync may be due.
    dirty: bool,
}

/// A sync that is due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// Which.
    pub op: Op,
    /// It follows each write, and not some of them.
    pub each: bool,
}

impl Syncs {
    /// Nothing written yet.
    pub fn new(every: SyncEvery) -> Syncs {
        Syncs { every, writes: 0, dirty: false }
    }

    /// An I/O has been planned.
    #[inline]
    pub fn went(&mut self, op: Op) {
        self.dirty = op == Op::Write;
        self.writes += u64::from(self.dirty);
    }

    /// The sync due before anything else, once.
    pub fn due(&mut self) -> Option<Due> {
        if !self.dirty {
            return None;
        }
        let SyncEvery { fsync, fdatasync, range } = self.every;
        let kinds = [(Op::Sync, fsync), (Op::DataSync, fdatasync), (Op::SyncRange, range)];
        let hit = |every: u32| every > 0 && self.writes.is_multiple_of(u64::from(every));
        let (op, every) = kinds.into_iter().find(|&(_, every)| hit(every))?;
        self.dirty = false;
        Some(Due { op, each: every == 1 })
    }
}
