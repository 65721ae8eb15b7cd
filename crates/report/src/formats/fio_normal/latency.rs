//! Latencies in fio's normal text: a line of moments, a table of percentiles.

use super::line;
use crate::report::LatencyReport;
use crate::scale::{FioTimeUnit, PrefixBase, PrefixedUnit, human};
use std::fmt::Write;

/// `  clat (usec): min=..`; nothing when there is no value. `name` brings its
/// own indentation beyond the first two blanks.
pub(super) fn add_line(name: &str, latency: &LatencyReport, text: &mut String) {
    if latency.n == 0 {
        return;
    }
    let span = FioTimeUnit::for_line(latency.min_ns, latency.max_ns, latency.stddev_ns);
    let extreme = |ns: u64| human(ns / span.nanos(), 6, PrefixBase::Decimal, PrefixedUnit::Plain);
    let unit = span.nanos() as f64;
    line!(
        text,
        "  {name} ({}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        span.name(),
        extreme(latency.min_ns),
        extreme(latency.max_ns),
        latency.mean_ns / unit,
        latency.stddev_ns / unit
    );
}

/// A table under `title`; nothing when percentiles were not asked for.
pub(super) fn add_table(title: &str, latency: &LatencyReport, text: &mut String) {
    let Some(list) = latency.percentiles.as_deref().filter(|list| !list.is_empty()) else {
        return;
    };
    let values = list.iter().map(|(_, value)| *value);
    let (least, most) = (values.clone().min().unwrap_or(0), values.max().unwrap_or(0));
    let span = FioTimeUnit::for_table(least, most);
    line!(text, "{title} ({}):", span.name());
    add_rows(list, span.nanos(), "     ", text);
}

/// Percentiles, as many to a row as fit in 80 columns. Values are rounded up,
/// as fio does; all cells are as wide as the widest.
pub(super) fn add_rows(list: &[(f64, u64)], unit: u64, indent: &str, text: &mut String) {
    let decimals = list.iter().map(|(percent, _)| decimals(*percent)).max().unwrap_or(0);
    let widest = list.iter().map(|(_, value)| value.div_ceil(unit)).max().unwrap_or(0);
    let width = widest.to_string().len().max(5);
    // A cell is ` 99.00th=[12345],`: what is neither decimals nor value takes
    // ten columns, and the indentation with its bar seven of the 80.
    let per_row = (73 / (decimals + 10 + width)).max(1);
    let cells: Vec<String> = list
        .iter()
        .map(|(percent, value)| {
            let (percent_width, value) = (decimals + 3, value.div_ceil(unit));
            format!(" {percent:percent_width$.decimals$}th=[{value:width$}]")
        })
        .collect();
    let rows = cells.chunks(per_row);
    let last = rows.len().saturating_sub(1);
    for (at, row) in rows.enumerate() {
        let end = if at == last { "" } else { "," };
        line!(text, "{indent}|{}{end}", row.join(","));
    }
}

/// How many decimals it takes to write a percentage as it was given.
fn decimals(percent: f64) -> usize {
    format!("{percent}").split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(list: &[(f64, u64)], unit: u64) -> String {
        let mut text = String::new();
        add_rows(list, unit, "     ", &mut text);
        text
    }

    #[test]
    fn the_rows_are_those_of_fio() {
        assert_eq!(rows(&[(50.0, 24)], 1), "     |  50th=[   24]\n");
        assert_eq!(
            rows(&[(1.0, 4), (2.0, 4), (3.25, 4), (4.0, 4), (100.0, 7392)], 1),
            "     |  1.00th=[    4],  2.00th=[    4],  3.25th=[    4],  4.00th=[    4],\n     \
             | 100.00th=[ 7392]\n"
        );
        assert_eq!(
            rows(&[(1.0, 20), (12.5, 22), (50.0, 23), (99.9999, 85504), (99.999999, 162816)], 1),
            "     |  1.000000th=[    20], 12.500000th=[    22], 50.000000th=[    23],\n     \
             | 99.999900th=[ 85504], 99.999999th=[162816]\n"
        );
        assert_eq!(rows(&[(1.123_456_789_1, 1), (2.0, 2), (3.0, 3)], 1).lines().count(), 2);
    }

    #[test]
    fn microseconds_are_rounded_up() {
        assert_eq!(rows(&[(50.0, 14_352_384)], 1000), "     |  50th=[14353]\n");
    }
}
