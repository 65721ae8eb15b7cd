//! A series as one line of characters.

use crate::formats::style::{Mark, Style, paint};
use crate::series::{RunSeries, SeriesWindow};
use crate::spark::spark;
use iosonde_base::text::{duration, rate, short_duration};

/// Characters of a line at most.
const CELLS_MOST: usize = 40;
/// A series of fewer windows shows nothing.
const WINDOWS_LEAST: usize = 4;

/// The rate and the 99th percentile over time; of jobs that sync that of the syncs, too.
pub(super) fn add(series: &RunSeries, style: &Style, text: &mut String) {
    let room = style.columns.saturating_sub(36).clamp(10, CELLS_MOST);
    let few = series.in_at_most(room);
    if few.windows.len() < WINDOWS_LEAST {
        return;
    }
    let rates =
        |(at, window): (usize, &SeriesWindow)| Some(window.bytes()? as f64 / few.rate_seconds(at)?);
    let rates: Vec<Option<f64>> = few.windows.iter().enumerate().map(rates).collect();
    let p99 = |window: &SeriesWindow| {
        let latency = window.sampled.then(|| window.latency())?;
        Some(few.percentile(&latency, 99.0)? as f64)
    };
    let p99: Vec<Option<f64>> = few.windows.iter().map(p99).collect();
    let window = short_duration(few.interval_ns);
    add_line("rate", &rates, |most| format!("0 to {}, {window} each", rate(most)), style, text);
    let to_most = |most: f64| format!("0 to {}", duration(most as u64));
    add_line("p99", &p99, to_most, style, text);
    let sync_p99 = |window: &SeriesWindow| {
        Some(few.sync_percentile(&window.syncs.latency, 99.0).filter(|_| window.sampled)? as f64)
    };
    let sync_p99: Vec<Option<f64>> = few.windows.iter().map(sync_p99).collect();
    add_line("sync p99", &sync_p99, to_most, style, text);
}

fn add_line(
    label: &str,
    values: &[Option<f64>],
    scale: impl Fn(f64) -> String,
    style: &Style,
    text: &mut String,
) {
    let Some(most) = values.iter().flatten().copied().reduce(f64::max).filter(|&most| most > 0.0)
    else {
        return;
    };
    text.push_str(&paint(format!("  {label:<10}"), Mark::Label, style));
    text.push_str(&paint(spark(values, style.unicode), Mark::First, style));
    text.push_str(&format!("  {}\n", scale(most)));
}
