//! Cells and advice in words, for the sentences on the results.

use crate::sheet::{Best, Results};
use iosonde_base::text;

/// `DSYNC of 1 MiB, 480 MiB/s`.
pub(crate) fn named(sheet: &Results, found: &Best) -> String {
    let name = sheet.kinds[found.row].name();
    format!("{name} of {}, {}", size(found.size), text::rate(found.rate))
}

/// Which run may show it: one that measures each cell so many times as long.
pub(crate) fn advice(sheet: &Results, longer: f64) -> String {
    let seconds = (sheet.seconds_a_cell * longer).ceil();
    if seconds <= 600.0 {
        format!("--time-per-cell={seconds:.0}s may show it")
    } else {
        "a quieter machine may show it".to_owned()
    }
}

/// `64 KiB`.
pub(crate) fn size(bytes: u32) -> String {
    text::bytes(u64::from(bytes))
}
