//! The rate over time: was it steady?

use super::frame::{LEFT, RIGHT, TOP, at, read_outs, time_axis};
use super::lines::{DrawnLine, LineChart, LinePoint, XAxis, YAxis};
use super::scale::Scale;
use crate::figures::{active, class};
use crate::unit::FigureUnit;
use iosonde_base::Dir;
use iosonde_base::text::{bytes, counted, duration, percent, rate, short_duration};
use iosonde_report::series::{RateChange, RunSeries, SeriesWindow, WindowCounts};
use maud::{Markup, html};

const BOTTOM: f64 = 236.0;
/// Windows that are drawn at most: more are narrower than a pixel.
const WINDOWS_MOST: usize = 300;
/// Rows of the table at most.
const ROWS_MOST: usize = 60;

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RateOf {
    Bytes,
    Ios,
}

impl RateOf {
    fn value(self, counts: &WindowCounts, seconds: f64) -> f64 {
        let number = if self == RateOf::Bytes { counts.bytes } else { counts.ios };
        number as f64 / seconds
    }

    fn unit(self) -> FigureUnit {
        match self {
            RateOf::Bytes => FigureUnit::BytesPerSecond,
            RateOf::Ios => FigureUnit::Count,
        }
    }
}

/// The charts of a run: bytes a second, and folded below it I/Os a second. A
/// script makes a switch of the two.
pub(crate) fn chart(series: &RunSeries, changes: &[RateChange], jobs: usize) -> Option<Markup> {
    let bytes = one(series, changes, RateOf::Bytes, jobs)?;
    let ios = one(series, changes, RateOf::Ios, jobs)?;
    Some(html! {
        div {
            (bytes)
            details.other-unit {
                summary { "The same in IOPS" }
                (ios)
            }
        }
    })
}

fn one(series: &RunSeries, changes: &[RateChange], rate_of: RateOf, jobs: usize) -> Option<Markup> {
    let few = series.in_at_most(WINDOWS_MOST);
    let dirs = active(&few);
    if few.windows.len() < 2 || dirs.is_empty() {
        return None;
    }
    let (few, dirs) = (&few, &dirs);
    let of = |at: usize, window: &SeriesWindow, dir: Dir| {
        Some(rate_of.value(&window.dirs[dir], few.rate_seconds(at)?))
    };
    let rates = |dir: Dir| {
        let windows = few.windows.iter().enumerate();
        windows.map(move |(at, window)| of(at, window, dir))
    };
    let most = dirs.iter().flat_map(|&dir| rates(dir)).flatten().fold(1.0, f64::max);
    let (x, labels) = time_axis(few, (LEFT, RIGHT));
    let line = |&dir: &Dir| {
        let point = |(index, rate): (usize, Option<f64>)| {
            Some(LinePoint::single(few.middle_s(index), rate?))
        };
        DrawnLine::new(class(dir), dir.name(), rates(dir).enumerate().map(point).collect())
    };
    let table = table(series, dirs, rate_of);
    let (id, title, finding) = match rate_of {
        RateOf::Bytes => ("rate", "Rate over time", finding(changes, few, jobs)),
        RateOf::Ios => ("rate-ios", "IOPS over time", "The same windows, counted in I/Os.".into()),
    };
    let chart = LineChart {
        id,
        title,
        finding,
        behind: Markup::default(),
        lines: dirs.iter().map(line).collect(),
        has_legend: true,
        above: html! {
            @for change in changes { (mark(change, &x, rate_of)) }
            (read_outs(series, ROWS_MOST, &table, &x, (TOP, BOTTOM)))
        },
        x: XAxis { scale: x, labels, name: "seconds".to_owned() },
        y: YAxis::from_zero(rate_of.unit(), most, (BOTTOM, TOP)),
        table,
    };
    Some(chart.markup())
}

/// A change as a line with its words.
fn mark(change: &RateChange, x: &Scale, rate_of: RateOf) -> Markup {
    let place = x.at(change.at_ns as f64 / 1e9);
    // Near the right border the words stand on the left.
    let is_late = place > RIGHT - 190.0;
    let (side, anchor) = if is_late { (place - 6.0, "end") } else { (place + 6.0, "start") };
    html! {
        line.change x1=(at(place)) x2=(at(place)) y1=(at(TOP)) y2=(at(BOTTOM)) {}
        // The levels are of bytes.
        @if rate_of == RateOf::Bytes {
            text.change x=(at(side)) y=(at(TOP + 12.0)) text-anchor=(anchor) {
                (words(change)) " after " (bytes(change.at_bytes))
            }
        }
    }
}

fn words(change: &RateChange) -> String {
    let (before, after) = (change.before_bytes_per_s.max(1.0), change.after_bytes_per_s);
    let sign = if after < before { "-" } else { "+" };
    format!("{sign}{}", percent((after - before).abs() / before))
}

fn finding(changes: &[RateChange], series: &RunSeries, jobs: usize) -> String {
    let missed = series.windows.iter().filter(|window| !window.sampled).count() as u64;
    let gaps = match missed {
        0 => String::new(),
        missed => format!(" {} could not be sampled: gaps.", counted(missed, "window")),
    };
    let window = short_duration(series.interval_ns);
    match changes {
        // The steps where jobs begin and end are theirs.
        [] if jobs > 1 => {
            format!(
                "All jobs together. No change of a job's mean was found. Windows of {window}.{gaps}"
            )
        }
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

fn table(
    series: &RunSeries,
    dirs: &[Dir],
    rate_of: RateOf,
) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let few = series.in_at_most(ROWS_MOST);
    let row = |(index, window): (usize, &SeriesWindow)| {
        let moment = duration(few.begin_ns(index));
        let cell = |dir: &Dir| match few.rate_seconds(index) {
            Some(seconds) => rate_of.unit().text(rate_of.value(&window.dirs[*dir], seconds)),
            None if window.sampled => "too short".to_owned(),
            None => "not sampled".to_owned(),
        };
        std::iter::once(moment).chain(dirs.iter().map(cell)).collect()
    };
    let heads = std::iter::once("from").chain(dirs.iter().map(|dir| dir.name())).collect();
    (heads, few.windows.iter().enumerate().map(row).collect())
}
