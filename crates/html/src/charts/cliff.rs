//! The rate against the bytes written: how big is the fast cache?

use super::frame::{Chart, LEFT, RIGHT, TOP, at, path, x_axis, y_axis};
use super::scale::{Scale, byte_ticks};
use crate::FigureUnit;
use iosonde_base::Dir;
use iosonde_base::text::bytes;
use iosonde_report::series::{RateChange, RunSeries};
use maud::{Markup, html};

const BOTTOM: f64 = 236.0;
const WINDOWS_MOST: usize = 300;
/// Below this no cache of a drive shows.
const BYTES_LEAST: u64 = 1 << 30;

/// The chart of a run that wrote a GiB or more.
pub(crate) fn chart(series: &RunSeries, changes: &[RateChange]) -> Option<Markup> {
    let few = series.in_at_most(WINDOWS_MOST);
    let mut written = 0u64;
    let mut points: Vec<Option<(f64, f64)>> = Vec::new();
    for (index, window) in few.windows.iter().enumerate() {
        let moved = window.dirs[Dir::Write].bytes;
        let middle = written as f64 + moved as f64 / 2.0;
        let seconds = few.rate_seconds(index);
        points.push(seconds.map(|seconds| (middle, moved as f64 / seconds)));
        written += moved;
    }
    let most = points.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
    if written < BYTES_LEAST || most <= 0.0 {
        return None;
    }
    let y_ticks = byte_ticks(most);
    let y = Scale::linear(0.0, y_ticks[y_ticks.len() - 1], BOTTOM, TOP);
    let x = Scale::linear(0.0, written as f64, LEFT, RIGHT);
    let labels = FigureUnit::Bytes.labels(written as f64);
    let line = path(points.iter().map(|point| point.map(|(at, rate)| (x.at(at), y.at(rate)))));
    // Bytes of changes are of all directions: they are places here only where all was written.
    let is_all = few.windows.iter().all(|window| window.dirs[Dir::Read].bytes == 0);
    let places: Vec<f64> = if is_all {
        changes.iter().map(|change| x.at(change.at_bytes as f64)).collect()
    } else {
        Vec::new()
    };
    let drawing = html! {
        (y_axis(&y_ticks, &y, |value| FigureUnit::BytesPerSecond.on_axis(value, y_ticks[1])))
        (x_axis(&labels, &x, BOTTOM, "written since the first window"))
        path.line.write d=(line) {}
        @for place in places {
            line.change x1=(at(place)) x2=(at(place)) y1=(at(TOP)) y2=(at(BOTTOM)) {}
        }
    };
    Some(
        Chart {
            id: "cliff",
            title: "Write rate against bytes written",
            finding: match (is_all, changes.first()) {
                (true, Some(change)) => format!(
                    "The rate changed after {}: the size of a fast cache, if it fell.",
                    bytes(change.at_bytes)
                ),
                _ => format!("No end of a fast cache within {}.", bytes(written)),
            },
            height: BOTTOM + 40.0,
            drawing,
            table: (Vec::new(), Vec::new()),
        }
        .markup(),
    )
}
