//! The rate over time: was it steady?

use super::frame::{Chart, LEFT, RIGHT, TOP, at, legend, path, time_axis, x_axis, y_axis};
use super::scale::{Scale, byte_ticks};
use crate::figures::{active, class};
use iosonde_base::Dir;
use iosonde_base::text::{bytes, duration, percent, plural, rate};
use iosonde_report::series::{RateChange, RunSeries, SeriesWindow};
use maud::{Markup, html};

const BOTTOM: f64 = 236.0;
/// Windows that are drawn at most: more are narrower than a pixel.
const WINDOWS_MOST: usize = 300;
/// Rows of the table at most.
const ROWS_MOST: usize = 60;

/// The chart of a run.
pub(crate) fn chart(series: &RunSeries, changes: &[RateChange]) -> Option<Markup> {
    let few = series.in_at_most(WINDOWS_MOST);
    let dirs = active(&few);
    if few.windows.len() < 2 || dirs.is_empty() {
        return None;
    }
    let seconds = few.interval_ns as f64 / 1e9;
    let of = |window: &SeriesWindow, dir: Dir| {
        window.sampled.then(|| window.dirs[dir].bytes as f64 / seconds)
    };
    let rates = |dir: Dir| few.windows.iter().map(move |window| of(window, dir));
    let most = dirs.iter().flat_map(|&dir| rates(dir)).flatten().fold(1.0, f64::max);
    let y_ticks = byte_ticks(most);
    let y = Scale::linear(0.0, y_ticks[y_ticks.len() - 1], BOTTOM, TOP);
    let (x, labels) = time_axis(&few, (LEFT, RIGHT));
    let line = |dir: Dir| {
        let middle = |index: usize| x.at((index as f64 + 0.5) * seconds);
        let points = rates(dir).enumerate();
        path(points.map(|(index, rate)| Some((middle(index), y.at(rate?)))))
    };
    let names: Vec<_> = dirs.iter().map(|&dir| (class(dir), dir.name().to_owned())).collect();
    let drawing = html! {
        (y_axis(&y_ticks, &y, rate))
        (x_axis(&labels, &x, BOTTOM, "seconds"))
        @for &dir in &dirs {
            path class={ "line " (class(dir)) } data-series=(class(dir)) d=(line(dir)) {}
        }
        @for change in changes { (mark(change, &x)) }
        (legend(&names))
    };
    Some(
        Chart {
            id: "rate",
            title: "Rate over time",
            finding: finding(changes, &few),
            height: BOTTOM + 40.0,
            drawing,
            table: table(series, &dirs),
        }
        .markup(),
    )
}

/// A change as a line with its words.
fn mark(change: &RateChange, x: &Scale) -> Markup {
    let place = x.at(change.at_ns as f64 / 1e9);
    // Near the right border the words stand on the left.
    let is_late = place > RIGHT - 190.0;
    let (side, anchor) = if is_late { (place - 6.0, "end") } else { (place + 6.0, "start") };
    html! {
        line.change x1=(at(place)) x2=(at(place)) y1=(at(TOP)) y2=(at(BOTTOM)) {}
        text.change x=(at(side)) y=(at(TOP + 12.0)) text-anchor=(anchor) {
            (words(change)) " after " (bytes(change.at_bytes))
        }
    }
}

fn words(change: &RateChange) -> String {
    let (before, after) = (change.before_bytes_per_s.max(1.0), change.after_bytes_per_s);
    let sign = if after < before { "-" } else { "+" };
    format!("{sign}{}", percent((after - before).abs() / before))
}

fn finding(changes: &[RateChange], series: &RunSeries) -> String {
    let missed = series.windows.iter().filter(|window| !window.sampled).count() as u64;
    let gaps = match missed {
        0 => String::new(),
        missed => format!(" {missed} window{} could not be sampled: gaps.", plural(missed)),
    };
    let window = duration(series.interval_ns);
    match changes {
        [] => format!("No change of the mean was found. Windows of {window}.{gaps}"),
        [change] => format!(
            "The rate changed by {} after {} and {}: {} before, {} after.{gaps}",
            words(change),
            duration(change.at_ns),
            bytes(change.at_bytes),
            rate(change.before_bytes_per_s),
            rate(change.after_bytes_per_s)
        ),
        several => format!("The rate changed {} times (dashed lines).{gaps}", several.len()),
    }
}

fn table(series: &RunSeries, dirs: &[Dir]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let few = series.in_at_most(ROWS_MOST);
    let seconds = few.interval_ns as f64 / 1e9;
    let row = |(index, window): (usize, &SeriesWindow)| {
        let moment = duration((index as u64).saturating_mul(few.interval_ns));
        let cell = |dir: &Dir| match window.sampled {
            true => rate(window.dirs[*dir].bytes as f64 / seconds),
            false => "not sampled".to_owned(),
        };
        std::iter::once(moment).chain(dirs.iter().map(cell)).collect()
    };
    let heads = std::iter::once("from").chain(dirs.iter().map(|dir| dir.name())).collect();
    (heads, few.windows.iter().enumerate().map(row).collect())
}

/// Data of the machine that waits to be written back, below the rate.
pub(crate) fn dirty(series: &RunSeries) -> Option<Markup> {
    let few = series.in_at_most(WINDOWS_MOST);
    let most = few.windows.iter().filter_map(|window| window.dirty_bytes).max()?;
    if most < 1 << 20 || few.windows.len() < 2 {
        return None;
    }
    let seconds = few.interval_ns as f64 / 1e9;
    let bottom = 126.0;
    let y_ticks: Vec<f64> = byte_ticks(most as f64).into_iter().step_by(2).collect();
    let y = Scale::linear(0.0, most as f64, bottom, TOP);
    let y_ticks: Vec<f64> = y_ticks.into_iter().filter(|&tick| tick <= y.high()).collect();
    let (x, labels) = time_axis(&few, (LEFT, RIGHT));
    let point = |(index, window): (usize, &SeriesWindow)| {
        Some((x.at((index as f64 + 1.0) * seconds), y.at(window.dirty_bytes? as f64)))
    };
    let last = few.windows.iter().rev().find_map(|window| window.dirty_bytes).unwrap_or(0);
    let drawing = html! {
        (y_axis(&y_ticks, &y, |value| bytes(value as u64)))
        (x_axis(&labels, &x, bottom, "seconds"))
        path.line.write d=(path(few.windows.iter().enumerate().map(point))) {}
    };
    Some(
        Chart {
            id: "dirty",
            title: "Data that waits to be written back",
            finding: format!(
                "Of the whole machine: {} at most, {} at the end.",
                bytes(most),
                bytes(last)
            ),
            height: bottom + 40.0,
            drawing,
            table: (Vec::new(), Vec::new()),
        }
        .markup(),
    )
}
