//! What the loop of queues keeps for what is in flight: a slot and a batch for each.

use iosonde_base::{FileId, Op, Planned};

/// One I/O in flight: the planned entry, its kind within `tag`. (The entry as
/// it is would be copied with its padding, at twice the price.)
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    pub(super) offset: u64,
    pub(super) len: u32,
    pub(super) file: FileId,
    pub(super) tag: Tag,
    /// Bytes moved by earlier, short, attempts; zero while the slot is free.
    pub(super) moved: u32,
}

impl Flight {
    #[inline(always)]
    pub(super) fn begin(&mut self, entry: &Planned, tag: Tag) {
        (self.offset, self.len, self.file) = (entry.offset, entry.len, entry.file);
        self.tag = tag;
    }

    pub(super) fn entry(&self) -> Planned {
        Planned { offset: self.offset, len: self.len, file: self.file, op: KINDS[self.tag.kind()] }
    }
}

/// What goes through a queue, by number: the lanes come first.
const KINDS: [Op; 6] = [Op::Read, Op::Write, Op::Trim, Op::Sync, Op::DataSync, Op::SyncRange];

/// Which batch an I/O was submitted with, which is where its stamps are, and what
/// kind it is. Completions with the same tag are counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tag(pub(super) u32);

impl Tag {
    #[inline(always)]
    pub(super) fn new(batch: u32, op: Op) -> Tag {
        Tag(batch << 4 | op as u32)
    }

    #[inline(always)]
    pub(super) fn batch(self) -> usize {
        (self.0 >> 4) as usize
    }

    /// The lane that counts it; past the lanes for what moves no data.
    #[inline(always)]
    pub(super) fn kind(self) -> usize {
        (self.0 & 15) as usize
    }
}

/// What I/Os that were submitted together share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    /// Nanoseconds from when the first of them was taken up to `issue`.
    pub(super) slat: u64,
    /// When the submission returned.
    pub(super) issue: u64,
    /// How many are still in flight.
    pub(super) live: u32,
}

/// The numbers of things that are used again and again: which are free. What
/// was given back last is taken first.
#[derive(Debug)]
pub(super) struct FreeList {
    /// Those that are free follow the first `taken` places.
    pub(super) numbers: Box<[u32]>,
    pub(super) taken: usize,
}

impl FreeList {
    pub(super) fn new(count: u32) -> FreeList {
        FreeList { numbers: (0..count).collect(), taken: 0 }
    }

    /// The number to be taken next. There must be one.
    #[inline(always)]
    pub(super) fn next(&self) -> u32 {
        self.numbers[self.taken]
    }

    /// In the order they are to be taken in.
    #[inline(always)]
    pub(super) fn free(&self) -> &[u32] {
        &self.numbers[self.taken..]
    }

    /// Take the next `n`, which were looked at by [`FreeList::free`].
    #[inline(always)]
    pub(super) fn take(&mut self, n: usize) {
        self.taken += n;
    }

    #[inline(always)]
    pub(super) fn give_back(&mut self, number: u32) {
        self.taken -= 1;
        self.numbers[self.taken] = number;
    }
}

/// A submission that is being put together.
pub(super) struct Filling {
    pub(super) start: u64,
    pub(super) batch: u32,
    pub(super) pushed: u32,
    /// How many of each kind.
    pub(super) counts: [u32; OPS],
    /// The kind of the last.
    pub(super) op: Op,
}

/// How many kinds of entries there are; a table of so many needs no check of
/// its index.
pub(super) const OPS: usize = Op::ZoneWait as usize + 1;

impl Filling {
    #[inline(always)]
    pub(super) fn note(&mut self, op: Op, count: u32) {
        self.pushed += count;
        self.op = op;
        self.counts[op as usize] += count;
    }
}
