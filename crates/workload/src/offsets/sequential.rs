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

/// From `last` over a gap of `add` bytes.
fn leap(place: &Place, last: u64, add: i64) -> Option<u64> {
    // Places count from the start, and the first I/O falls there.
    let from = last - place.start;
    let used = (place.end - place.start).min(place.size);
    if from == 0 {
        return Some(place.start);
    }
    let at = from.checked_add_signed(add).filter(|at| *at < used);
    let at = match at {
        Some(at) => at,
        None if add > 0 => 0,
        None => used.checked_add_signed(add)?,
    };
    Some(place.start + at)
}
