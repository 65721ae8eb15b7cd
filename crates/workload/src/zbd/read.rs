//! Where a read or a trim goes: to a zone that holds data.

use super::ZoneTable;
use super::job::{Drawn, Placed, Rules};
use super::range::ZoneRange;

/// Where the read that was drawn goes: below a write pointer.
pub(crate) fn place_read(
    table: &ZoneTable,
    range: &ZoneRange,
    rules: &Rules,
    drawn: &Drawn,
) -> Placed {
    let (offset, len) = (drawn.start.offset, drawn.len);
    let zone = table.zone_at(offset);
    if rules.read_beyond_wp || !table.is_sequential(zone) {
        return Placed::At { offset, len };
    }
    if table.is_busy(zone) {
        return Placed::AfterWrite;
    }
    let least = rules.least[0].max(1);
    let holds_least = |zone: usize| table.is_usable(zone) && table.written(zone) >= least;
    let in_order = !rules.random;
    let here = holds_least(zone) && (rules.random || offset + least <= table.pointer(zone));
    let found = match (here, in_order) {
        (true, _) => Some(zone),
        (false, true) => (zone + 1..range.zones.end).find(|&next| holds_least(next)),
        (false, false) => range.near(zone).find(|&near| holds_least(near)),
    };
    let Some(found) = found else { return Placed::Nowhere };
    if table.is_busy(found) {
        return Placed::AfterWrite;
    }
    let start = table.start(found);
    let offset = match in_order {
        true if offset >= start => offset,
        true => start,
        false => {
            let into = offset - table.start(table.zone_at(offset));
            start + scattered(into, table.written(found), u64::from(len), least)
        }
    };
    let below = table.pointer(found).saturating_sub(offset).min(u64::from(len));
    // At most what was drawn.
    Placed::At { offset, len: (below - below % least) as u32 }
}

/// A place in the first `written` bytes of a zone for `len` bytes that were drawn `into` it.
fn scattered(into: u64, written: u64, len: u64, least: u64) -> u64 {
    match written.checked_sub(len) {
        None | Some(0) => 0,
        Some(places) => {
            let place = into % places;
            place - place % least
        }
    }
}

/// Which zone is trimmed: the one drawn; at random, one that holds data.
pub(crate) fn place_trim(
    table: &ZoneTable,
    range: &ZoneRange,
    rules: &Rules,
    drawn: &Drawn,
) -> Placed {
    let zone = table.zone_at(drawn.start.offset);
    if !table.is_sequential(zone) {
        return Placed::At { offset: drawn.start.offset, len: drawn.len };
    }
    let holds_data =
        |zone: usize| table.is_sequential(zone) && table.is_usable(zone) && table.written(zone) > 0;
    let found = if rules.random && !holds_data(zone) {
        range.near(zone).find(|&near| holds_data(near))
    } else {
        Some(zone)
    };
    match found {
        None => Placed::Nowhere,
        Some(zone) if table.is_busy(zone) => Placed::AfterWrite,
        Some(zone) => Placed::At { offset: table.start(zone), len: drawn.len },
    }
}
