//! One I/O after another, with gaps, or backwards.

use iosonde_base::Dir;

use crate::files::Place;

/// Where the next sequential I/O of `dir` begins; none at the end.
///
/// Leaps over the end go round while the last I/O has not ended exactly there
/// (checked against fio: tests/fio.rs).
#[inline]
pub(crate) fn sequential(place: &Place, dir: Dir, add: i64) -> Option<u64> {
    let last = place.last_end[dir as usize];
    if last >= place.end {
        return None;
    }
    let mut offset = last;
    if add != 0 {
        offset = leap(place, last, add)?;
    }
    (offset < place.start + place.size).then_some(offset)
}

/// Where the next sequential I/O of `dir` begins in a zone, over a gap of `add`
/// bytes; none at `end`. The last leap may land beyond the zone; from there it
/// goes round (checked against fio: tests/fio.rs).
pub(crate) fn sequential_in_zone(place: &Place, dir: Dir, add: i64, end: u64) -> Option<u64> {
    let last = place.last_end[dir as usize];
    let (zone_end, end) = (place.start + place.size, end.min(place.end));
    if last >= end {
        return None;
    }
    if last >= zone_end || last == place.start {
        return Some(place.start);
    }
    let offset = last.checked_add_signed(add)?;
    (offset < end).then_some(offset)
}

/// From `last` over a gap of `add` bytes.
fn leap(place: &Place, last: u64, add: i64) -> Option<u64> {
    // Places count from the start; the first I/O forwards falls there.
    let used = place.size.min(place.end);
    let mut from = last - place.start;
    if from == 0 {
        if add > 0 || place.start == 0 {
            return Some(place.start);
        }
        // Backwards from an offset, fio begins at the end, though it counts
        // that from the start of the file. One too low wraps, as in fio.
        from = used.wrapping_sub(place.start);
    }
    // A place below zero is a very large one.
    let at = from.wrapping_add_signed(add);
    let at = match at < place.end {
        true => at,
        false if add > 0 => 0,
        false => used.checked_add_signed(add)?,
    };
    place.start.checked_add(at)
}
