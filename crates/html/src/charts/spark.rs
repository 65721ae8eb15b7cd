//! Small drawings in the cells of a table.

use super::frame::path;
use iosonde_report::LatencyReport;
use maud::{Markup, html};

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 22.0;

/// A rate over time, from 0 to its own largest value.
pub(crate) fn rate(bytes: &[u64]) -> Markup {
    let most = bytes.iter().copied().max().unwrap_or(0);
    let step = WIDTH / bytes.len().max(2) as f64;
    let place = |value: u64| HEIGHT - 1.0 - (HEIGHT - 2.0) * value as f64 / most.max(1) as f64;
    let points = bytes.iter().enumerate();
    let line = path(points.map(|(at, &value)| Some((at as f64 * step, place(value)))));
    drawing(&line)
}

/// The percentiles of a curve.
const PERCENTS: [f64; 10] = [0.1, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.9];

/// The lowest and the highest point of the curves of some latencies.
pub(crate) fn tail_scale<'a>(all: impl Iterator<Item = &'a LatencyReport> + Clone) -> (u64, u64) {
    let ends = [PERCENTS[0], PERCENTS[9]];
    let [low, high] = ends.map(|percent| all.clone().filter_map(move |one| one.at(percent)));
    (low.filter(|&ns| ns > 0).min().unwrap_or(1), high.max().unwrap_or(2))
}

/// A curve of percentiles from p0.1 to p99.9, on one logarithmic scale.
pub(crate) fn tail(latency: &LatencyReport, (low, high): (u64, u64)) -> Markup {
    let span = (high.max(low + 1) as f64 / low.max(1) as f64).ln();
    let place = |ns: u64| {
        let share = (ns.max(1) as f64 / low.max(1) as f64).ln() / span;
        HEIGHT - 1.0 - (HEIGHT - 2.0) * share.clamp(0.0, 1.0)
    };
    let nines = |percent: f64| -(1.0 - percent / 100.0).log10() / 3.0 * WIDTH;
    let points = PERCENTS.map(|percent| Some((nines(percent), place(latency.at(percent)?))));
    drawing(&path(points))
}

fn drawing(line: &str) -> Markup {
    html! {
        svg.spark viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" {
            path.line.read d=(line) {}
        }
    }
}
