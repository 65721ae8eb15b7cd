//! Which part of a target a job uses, rounded to zones.

use super::ZoneTable;
use iosonde_base::PerDir;
use std::ops::Range;

/// The part of a target that a job uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ZoneRange {
    /// Its zones.
    pub zones: Range<usize>,
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
}

impl ZoneRange {
    pub fn new(table: &ZoneTable, offset: u64, bytes: u64) -> ZoneRange {
        let first = table.zone_at(offset);
        let last = table.zone_at((offset + bytes).saturating_sub(1));
        ZoneRange { zones: first..last + 1, offset, bytes }
    }

    /// The zone after `zone`, round.
    pub fn after(&self, zone: usize) -> usize {
        if zone + 1 >= self.zones.end { self.zones.start } else { zone + 1 }
    }

    /// All zones from the one after `zone` on, round, up to `zone` itself.
    pub(crate) fn zones_after(&self, zone: usize) -> impl Iterator<Item = usize> + use<> {
        let (range, count) = (self.clone(), self.zones.len());
        let mut at = zone;
        (0..count).map(move |_| {
            at = range.after(at);
            at
        })
    }

    /// The zones near `zone` by their distance: +1, -1, +2, and so on.
    pub fn near(&self, zone: usize) -> impl Iterator<Item = usize> + use<> {
        let range = self.zones.clone();
        let steps = 1..=range.len();
        let both = move |step: usize| [zone.checked_add(step), zone.checked_sub(step)];
        steps.flat_map(both).flatten().filter(move |near| range.contains(near))
    }
}

/// A range that was rounded to zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundedRange {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes before the end was rounded, where they differ.
    pub bytes_before: Option<u64>,
}

/// Why a range cannot be rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeError {
    /// It holds no whole zone.
    LessThanAZone,
}

/// The part from `offset` on, of `bytes`, as far as a job may use it: reads end at the end of a
/// zone; other jobs begin at the start of one as well. A range without sequential zones stays as it is.
///
/// # Errors
/// If nothing is left.
pub fn round_range(
    table: &ZoneTable,
    offset: u64,
    bytes: u64,
    dirs: PerDir<bool>,
) -> Result<RoundedRange, RangeError> {
    let unchanged = RoundedRange { offset, bytes, bytes_before: None };
    let zone_bytes = table.zone_bytes();
    let only_reads = !dirs.0[1] && !dirs.0[2];
    let touched = ZoneRange::new(table, offset, bytes.max(1));
    if !touched.zones.clone().any(|zone| table.is_sequential(zone)) {
        return Ok(unchanged);
    }
    let end = offset.saturating_add(bytes);
    let first = if only_reads {
        offset
    } else {
        offset.checked_next_multiple_of(zone_bytes).ok_or(RangeError::LessThanAZone)?
    };
    let last = end - end % zone_bytes;
    if last <= first {
        return Err(RangeError::LessThanAZone);
    }
    let (before, after) = (end - first, last - first);
    let bytes_before = (before != after).then_some(before);
    Ok(RoundedRange { offset: first, bytes: after, bytes_before })
}
