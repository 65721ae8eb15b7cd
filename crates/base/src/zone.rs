//! A zone of a zoned target, as the target reports it.

/// Where a zone may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneKind {
    /// Anywhere.
    Conventional,
    /// At its write pointer only.
    Sequential,
}

/// What state a zone is in; the names are those of the kernel's `blk_zone_cond`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneCondition {
    /// Conventional: it has no write pointer.
    NotWritePointer,
    /// Nothing is written.
    Empty,
    /// A write opened it.
    ImplicitlyOpen,
    /// A command opened it.
    ExplicitlyOpen,
    /// It was open and holds data.
    Closed,
    /// It can only be read, and for good.
    ReadOnly,
    /// It is written up to its capacity, or was finished.
    Full,
    /// It can neither be read nor written.
    Offline,
}

/// A zone. Offsets and lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneReport {
    /// Its first byte.
    pub start: u64,
    /// Bytes up to the next zone.
    pub len: u64,
    /// How many of them can be used.
    pub capacity: u64,
    /// Where the next write goes; meaningless for a zone without write pointer, and for one
    /// that is full.
    pub write_pointer: u64,
    /// Where it may be written.
    pub kind: ZoneKind,
    /// Its state.
    pub condition: ZoneCondition,
}

impl ZoneReport {
    /// An empty sequential zone.
    pub const fn empty(start: u64, len: u64, capacity: u64) -> ZoneReport {
        ZoneReport {
            start,
            len,
            capacity,
            write_pointer: start,
            kind: ZoneKind::Sequential,
            condition: ZoneCondition::Empty,
        }
    }

    /// A conventional zone.
    pub const fn conventional(start: u64, len: u64) -> ZoneReport {
        ZoneReport {
            start,
            len,
            capacity: len,
            write_pointer: start,
            kind: ZoneKind::Conventional,
            condition: ZoneCondition::NotWritePointer,
        }
    }

    /// Bytes below the write pointer; all of a zone that is full or has no pointer.
    pub fn written(&self) -> u64 {
        match self.condition {
            ZoneCondition::NotWritePointer | ZoneCondition::Full => self.capacity,
            _ => self.write_pointer.saturating_sub(self.start).min(self.capacity),
        }
    }

    /// Whether it is open for writing.
    pub fn is_open(&self) -> bool {
        matches!(self.condition, ZoneCondition::ImplicitlyOpen | ZoneCondition::ExplicitlyOpen)
    }

    /// Whether it can be written and read.
    pub fn is_usable(&self) -> bool {
        !matches!(self.condition, ZoneCondition::ReadOnly | ZoneCondition::Offline)
    }
}
