//! Planned entries, completions, and the ring between the planner
//! that decides and the loop that does.

use crate::{Dir, Errno};

/// The operation of one planned entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Read `len` bytes at `offset`.
    #[default]
    Read = 0,
    /// Write `len` bytes at `offset`.
    Write = 1,
    /// Discard `len` bytes at `offset`.
    Trim = 2,
    /// fsync(2) the file.
    Sync = 3,
    /// fdatasync(2) the file.
    DataSync = 4,
    /// sync_file_range(2) over `len` bytes at `offset`.
    SyncRange = 5,
    /// Open the file (again). Not an I/O: the loop does it between I/Os.
    Open = 6,
    /// Close the file once nothing is in flight on it.
    Close = 7,
    /// Drop the file's range from the page cache, as fio does when a
    /// time-based job starts over.
    Invalidate = 8,
    /// Trim a whole zone: reset it, counted as a trim.
    ZoneTrim = 9,
    /// Reset the zone that begins at `offset`, once nothing is in flight. So are the next ones.
    ZoneReset = 10,
    /// Finish the zone that begins at `offset`.
    ZoneFinish = 11,
    /// Ask where the write pointer of the zone is in which a write failed that was to end at
    /// `offset`, and write the rest.
    ZoneRecover = 12,
    /// Wait until a write of another job to its zone has ended.
    ZoneWait = 13,
}

impl Op {
    /// The direction of data, if data (or a discard) is what this moves.
    #[inline]
    pub const fn dir(self) -> Option<Dir> {
        match self {
            Op::Read => Some(Dir::Read),
            Op::Write => Some(Dir::Write),
            Op::Trim | Op::ZoneTrim => Some(Dir::Trim),
            _ => None,
        }
    }

    /// Whether this asks for earlier writes to be made durable.
    #[inline]
    pub const fn is_sync(self) -> bool {
        matches!(self, Op::Sync | Op::DataSync | Op::SyncRange)
    }

    /// Whether this is something the loop does itself, between I/Os.
    #[inline]
    pub const fn is_control(self) -> bool {
        (self as u8) >= Op::Open as u8
    }

    /// Whether this is a command to a zone, or a wait for one.
    #[inline]
    pub const fn is_zone_command(self) -> bool {
        (self as u8) >= Op::ZoneTrim as u8
    }
}

impl From<Dir> for Op {
    fn from(dir: Dir) -> Op {
        match dir {
            Dir::Read => Op::Read,
            Dir::Write => Op::Write,
            Dir::Trim => Op::Trim,
        }
    }
}

/// Index into a job's table of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// Index of an I/O in flight: the same index finds its buffer and its note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Slot(pub u32);

/// One decided entry: an I/O, or something to do between I/Os.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Byte offset in the file.
    pub offset: u64,
    /// Bytes; zero for syncs that cover the whole file.
    pub len: u32,
    /// Which file.
    pub file: FileId,
    /// What to do.
    pub op: Op,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot that it was issued from.
    pub slot: Slot,
    /// Bytes moved, or why none were.
    pub result: Result<u32, Errno>,
}

/// How many entries are planned ahead. Enough that the cost of a refill and
/// the cache misses of a random map are shared; few enough to stay in L1.
pub const RING: usize = 64;

/// Entries decided ahead of time, in the order they are to be issued.
#[derive(Debug)]
pub struct Ring {
    entries: [Planned; RING],
    next: u32,
    len: u32,
    /// All entries, those taken too, are alike but for their offsets.
    alike: bool,
}

impl Default for Ring {
    fn default() -> Ring {
        Ring { entries: [Planned::default(); RING], next: 0, len: 0, alike: false }
    }
}

impl Ring {
    /// Take the next entry.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Planned> {
        if self.next == self.len {
            return None;
        }
        // The mask says to the compiler what `len <= RING` says to us.
        let entry = self.entries[self.next as usize & (RING - 1)];
        self.next += 1;
        Some(entry)
    }

    /// Look at the next entry without taking it.
    #[inline]
    pub fn peek(&self) -> Option<&Planned> {
        self.as_slice().first()
    }

    /// How many entries wait.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.len - self.next
    }

    /// How many of the entries that the last refill put here were taken: the
    /// place of the next among them.
    #[inline(always)]
    pub fn place(&self) -> usize {
        self.next as usize
    }

    /// Whether all entries are known to be alike but for their offsets.
    #[inline(always)]
    pub fn is_alike(&self) -> bool {
        self.alike
    }

    /// Take the next `n` entries, which were looked at by [`Ring::as_slice`].
    /// No more than wait.
    #[inline(always)]
    pub fn advance(&mut self, n: usize) {
        self.next = self.len.min(self.next + n as u32);
    }

    /// Room for entries, after forgetting those taken.
    ///
    /// # Panics
    /// If entries still wait: a refill must not reorder.
    #[inline]
    pub fn clear(&mut self) {
        assert_eq!(self.next, self.len, "entries still wait");
        (self.next, self.len) = (0, 0);
    }

    /// Forget entries that wait, because the job ends or starts over.
    pub fn forget(&mut self) {
        (self.next, self.len) = (0, 0);
    }

    /// Forget the entries behind the next `most` that move data; how many of those wait.
    pub fn keep_ios(&mut self, most: u64) -> u64 {
        let mut ios = 0;
        for place in self.next..self.len {
            if ios == most {
                self.len = place;
                break;
            }
            ios += u64::from(self.entries[place as usize].op.dir().is_some());
        }
        ios
    }

    /// How many more fit.
    #[inline]
    pub fn room(&self) -> usize {
        RING - self.len as usize
    }

    /// Add one. Does nothing when full: see [`Ring::room`].
    #[inline]
    pub fn push(&mut self, entry: Planned) {
        self.alike = false;
        if let Some(place) = self.entries.get_mut(self.len as usize) {
            *place = entry;
            self.len += 1;
        }
    }

    /// Add these, at less cost than one by one.
    ///
    /// # Panics
    /// If there are more than fit: see [`Ring::room`].
    #[inline]
    pub fn extend(&mut self, entries: &[Planned]) {
        self.alike = false;
        let len = self.len as usize;
        self.entries[len..len + entries.len()].copy_from_slice(entries);
        // At most RING, so it fits.
        self.len += entries.len() as u32;
    }

    /// Put `count` entries into the empty ring, at most [`RING`], at less cost
    /// than one by one.
    ///
    /// # Panics
    /// If entries still wait.
    #[inline]
    pub fn fill(&mut self, count: usize, mut entry: impl FnMut(usize) -> Planned) {
        self.clear();
        self.alike = false;
        let count = count.min(RING);
        for (i, place) in self.entries[..count].iter_mut().enumerate() {
            *place = entry(i);
        }
        // At most RING, so it fits.
        self.len = count as u32;
    }

    /// Put entries into the empty ring as long as there are some, at most `most` and [`RING`].
    ///
    /// # Panics
    /// If entries still wait.
    #[inline(always)]
    pub fn fill_while(&mut self, most: usize, mut entry: impl FnMut() -> Option<Planned>) {
        self.clear();
        self.alike = false;
        let mut count = 0;
        for place in &mut self.entries[..most.min(RING)] {
            let Some(next) = entry() else { break };
            *place = next;
            count += 1;
        }
        self.len = count;
    }

    /// As [`Ring::fill`], with entries that are `model` but for their offsets.
    #[inline(always)]
    pub fn fill_alike(&mut self, count: usize, model: Planned, offsets: impl Iterator<Item = u64>) {
        self.clear();
        let first = &self.entries[0];
        if !(self.alike && Planned { offset: first.offset, ..model } == *first) {
            // Values that are the same for each refill are written once.
            self.entries = [model; RING];
            self.alike = true;
        }
        let count = count.min(RING);
        for (place, offset) in self.entries[..count].iter_mut().zip(offsets) {
            place.offset = offset;
        }
        // At most RING, so it fits.
        self.len = count as u32;
    }

    /// The entries that wait, in order, to be changed.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [Planned] {
        self.alike = false;
        &mut self.entries[self.next as usize..self.len as usize]
    }

    /// The entries that wait, in order.
    #[inline]
    pub fn as_slice(&self) -> &[Planned] {
        &self.entries[self.next as usize..self.len as usize]
    }
}
