//! One I/O after another, with gaps, or backwards.

use iosonde_base::Dir;

use crate::file::FileState;

/// Where the next sequential I/O of `dir` begins, counted from the start of the
/// range; none where the last one ended at the end of the file.
#[inline]
pub(crate) fn sequential(file: &FileState, dir: Dir, add: i64) -> Option<u64> {
    let last = file.last_end[dir as usize];
    if last >= file.end {
        return None;
    }
    let place = last.wrapping_sub(file.start);
    if add == 0 { Some(place) } else { add_gap(file, place, add) }
}

/// From `place` over a gap of `add` bytes (checked against fio: tests/fio.rs).
fn add_gap(file: &FileState, place: u64, add: i64) -> Option<u64> {
    let used = file.range.min(file.end);
    let mut from = place;
    if from == 0 {
        if add > 0 || file.start == 0 {
            return Some(0);
        }
        // Backwards from an offset, fio begins at the end, though it counts
        // that from the start of the file. One too low wraps, as in fio.
        from = used.wrapping_sub(file.start);
        if from == 0 {
            return Some(0);
        }
    }
    // A place below zero is a very large one.
    let at = from.wrapping_add_signed(add);
    match at < file.end {
        true => Some(at),
        // fio takes the start, a place in the file, for one in the range.
        false if add > 0 => Some(file.start),
        false => used.checked_add_signed(add),
    }
}
