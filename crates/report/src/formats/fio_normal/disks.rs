//! Disks in fio's normal text.

use super::line;
use crate::report::{DiskCounts, DiskReport};
use std::fmt::Write;

/// A disk and those below it, a line each. A disk that stands on others is
/// indented further than they are, as in fio.
pub(super) fn add_disk(disk: &DiskReport, text: &mut String) {
    let indent = if disk.aggregate.is_some() { "    " } else { "  " };
    let aggregate = disk
        .aggregate
        .as_ref()
        .map_or(String::new(), |counts| format!(", {}", counters(counts, "aggr", "aggsectors")));
    line!(text, "{indent}{}: {}{aggregate}", disk.name, counters(&disk.counts, "", "sectors"));
    disk.slaves.iter().for_each(|slave| add_disk(slave, text));
}

fn counters(counts: &DiskCounts, prefix: &str, sectors_name: &str) -> String {
    let DiskCounts { ios, sectors, merges, ticks_ms, in_queue_ms, util_percent } = counts;
    let sectors = sectors.unwrap_or_default();
    format!(
        "{prefix}ios={}/{}, {sectors_name}={}/{}, {prefix}merge={}/{}, {prefix}ticks={}/{}, \
         {prefix}in_queue={in_queue_ms}, {prefix}util={util_percent:3.2}%",
        ios[0], ios[1], sectors[0], sectors[1], merges[0], merges[1], ticks_ms[0], ticks_ms[1]
    )
}
