//! Small drawings in the cells of a table, all of one scale.

use super::frame::path;
use iosonde_report::LatencyReport;
use maud::{Markup, html};

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 22.0;

/// A rate over time, from 0 to `most`.
pub(crate) fn rate(bytes: &[u64], most: u64) -> Markup {
    let step = WIDTH / bytes.len().max(2) as f64;
    let place = |value: u64| HEIGHT - 1.0 - (HEIGHT - 2.0) * value as f64 / most.max(1) as f64;
    let points = bytes.iter().enumerate();
    let line = path(points.map(|(at, &value)| Some((at as f64 * step, place(value)))));
    drawing(&line)
}

/// A curve of percentiles from p0 to p99.9, on one logarithmic scale.
pub(crate) fn tail(latency: &LatencyReport, (low, high): (u64, u64)) -> Markup {
    let span = (high.max(low + 1) as f64 / low.max(1) as f64).ln();
    let place = |ns: u64| {
        let share = (ns.max(1) as f64 / low.max(1) as f64).ln() / span;
        HEIGHT - 1.0 - (HEIGHT - 2.0) * share.clamp(0.0, 1.0)
    };
    let percents = [0.1, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.9];
    let nines = |percent: f64| -(1.0 - percent / 100.0).log10() / 3.0 * WIDTH;
    let points = percents.map(|percent| Some((nines(percent), place(latency.at(percent)?))));
    drawing(&path(points))
}

fn drawing(line: &str) -> Markup {
    html! {
        svg.spark viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" {
            path.line.read d=(line) {}
        }
    }
}
