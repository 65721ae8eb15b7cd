//! A run over time: lines of characters, and a heat map.

use super::{LiveWindow, ScreenStyle};
use crate::spark::{levels, spark};
use iosonde_base::text::{duration, rate};
use iosonde_stats::coarse_lowest;
use ratatui_core::style::Modifier;
use ratatui_core::text::Line;
use std::sync::Arc;

/// The rate and the 99th percentile of the last windows, each from zero to
/// its largest.
pub(super) fn sparks(
    windows: &[Arc<LiveWindow>],
    columns: usize,
    style: &ScreenStyle,
) -> Vec<Line<'static>> {
    let room = columns.saturating_sub(32).max(8);
    let windows = &windows[windows.len().saturating_sub(room)..];
    let rates: Vec<Option<f64>> = windows.iter().map(|window| Some(window.bytes_per_s)).collect();
    let p99 = windows.iter().map(|window| window.p99_ns.map(|ns| ns as f64));
    let p99: Vec<Option<f64>> = p99.collect();
    let line = |name: &str, values: &[Option<f64>], show: fn(f64) -> String| {
        let most = values.iter().flatten().copied().fold(0.0, f64::max);
        let scale = if most > 0.0 { format!("0 to {}", show(most)) } else { String::new() };
        let cells = spark(values, style.unicode);
        let gap = " ".repeat(room.saturating_sub(values.len()));
        Line::from(format!(" {name:<6} {cells}{gap}  {scale}"))
    };
    vec![line("rate", &rates, rate), line("p99", &p99, |ns| duration(ns as u64))]
}

/// Durations over time: a row for some buckets, a column for each window, the
/// more I/Os the fuller the character (by the logarithm of their number).
pub(super) fn heat_map(
    windows: &[Arc<LiveWindow>],
    columns: usize,
    rows: usize,
    style: &ScreenStyle,
) -> Vec<Line<'static>> {
    let title = " durations of I/Os over time, a second a column";
    let mut lines = vec![Line::styled(title, Modifier::DIM)];
    let room = columns.saturating_sub(12).max(8);
    let windows = &windows[windows.len().saturating_sub(room)..];
    let buckets = || windows.iter().flat_map(|w| w.latency.iter()).map(|(bucket, _)| bucket);
    let (Some(least), Some(most)) = (buckets().min(), buckets().max()) else {
        lines.push(Line::from(" no latencies are kept, or there were no I/Os yet"));
        return lines;
    };
    let rows = rows.saturating_sub(1).max(1);
    let together = (most - least + 1).div_ceil(rows);
    let levels = levels(style.unicode);
    for row in (0..(most - least + 1).div_ceil(together)).rev() {
        let first = least + row * together;
        let counts = windows.iter().map(|window| {
            let in_row = |(bucket, _): &(usize, u64)| (first..first + together).contains(bucket);
            window.latency.iter().filter(in_row).map(|(_, count)| count).sum::<u64>()
        });
        let counts: Vec<u64> = counts.collect();
        let cell = |&count: &u64| match count {
            0 => ' ',
            // Eight levels of a factor of eight each: 1 to 16 million.
            count => levels[(count.ilog2() as usize / 3).min(7)],
        };
        let cells: String = counts.iter().map(cell).collect();
        lines.push(Line::from(format!(" {:>8} {cells}", duration(coarse_lowest(first)))));
    }
    lines
}
