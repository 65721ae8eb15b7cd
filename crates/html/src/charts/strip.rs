//! What the system did while a run went on: a strip of small lanes with the
//! same axis as the rate above it.

use super::frame::{Chart, LEFT, RIGHT, at, path, time_axis, x_axis};
use super::scale::Scale;
use crate::unit::FigureUnit;
use iosonde_base::text::{bytes, percent};
use iosonde_report::series::{DeviceCounts, RunSeries, SeriesWindow};
use maud::{Markup, html};

const WINDOWS_MOST: usize = 300;
const HIGH: f64 = 44.0;
const GAP: f64 = 16.0;
/// Less dirty data and less steal than this say nothing.
const DIRTY_LEAST: f64 = (1 << 20) as f64;
const STEAL_LEAST: f64 = 0.005;

/// One lane: a value of each window, from 0.
struct StripLane {
    name: &'static str,
    class: &'static str,
    values: Vec<Option<f64>>,
    text: fn(f64) -> String,
}

impl StripLane {
    fn most(&self) -> f64 {
        self.values.iter().flatten().copied().fold(0.0, f64::max)
    }
}

/// The chart, if anything is known that says something.
pub(crate) fn chart(series: &RunSeries) -> Option<Markup> {
    let few = series.in_at_most(WINDOWS_MOST);
    if few.windows.len() < 2 {
        return None;
    }
    let lanes = lanes(&few);
    if lanes.is_empty() {
        return None;
    }
    let bottom = (HIGH + GAP) * lanes.len() as f64;
    let (x, labels) = time_axis(&few, (LEFT, RIGHT));
    let drawing = html! {
        (x_axis(&labels, &x, bottom, "seconds"))
        @for (row, one) in lanes.iter().enumerate() {
            (lane(one, GAP + (HIGH + GAP) * row as f64, &few, &x))
        }
    };
    let words: Vec<String> = lanes
        .iter()
        .map(|lane| format!("{} at most {}", lane.name, (lane.text)(lane.most())))
        .collect();
    let chart = Chart {
        id: "system",
        title: "The system meanwhile",
        finding: format!("Windows of the rate above, each lane from 0: {}.", words.join(", ")),
        height: bottom + 40.0,
        drawing,
        table: (Vec::new(), Vec::new()),
    };
    Some(chart.markup())
}

fn lanes(series: &RunSeries) -> Vec<StripLane> {
    let of = |value: &dyn Fn(&SeriesWindow) -> Option<f64>| -> Vec<Option<f64>> {
        series.windows.iter().map(value).collect()
    };
    let device = |count: fn(&DeviceCounts) -> u64| {
        let rate = |(at, window): (usize, &SeriesWindow)| {
            Some(count(window.device.as_ref()?) as f64 / series.rate_seconds(at)?)
        };
        series.windows.iter().enumerate().map(rate).collect()
    };
    let rate: fn(f64) -> String = |value| FigureUnit::BytesPerSecond.text(value);
    let lane = |name, class, values, text| StripLane { name, class, values, text };
    let all = [
        (lane("disk reads", "read", device(|one| one.read_bytes), rate), 0.0),
        (lane("disk writes", "write", device(|one| one.written_bytes), rate), 0.0),
        (
            lane("flushes", "sync", device(|one| one.flushes), |value| {
                format!("{}/s", FigureUnit::Count.text(value))
            }),
            0.0,
        ),
        (
            lane("dirty", "trim", of(&|window| Some(window.dirty_bytes? as f64)), |value| {
                bytes(value as u64)
            }),
            DIRTY_LEAST,
        ),
        (lane("steal", "response", of(&|window| window.steal_share), percent), STEAL_LEAST),
    ];
    let shown = all.into_iter().filter(|(lane, least)| lane.most() > *least);
    shown.map(|(lane, _)| lane).collect()
}

fn lane(lane: &StripLane, top: f64, series: &RunSeries, x: &Scale) -> Markup {
    let bottom = top + HIGH;
    let y = Scale::linear(0.0, lane.most(), bottom, top);
    let point = |(index, value): (usize, &Option<f64>)| {
        Some((x.at(series.middle_s(index)), y.at((*value)?)))
    };
    html! {
        g.axis {
            line.grid x1=(at(LEFT)) x2=(at(RIGHT)) y1=(at(top)) y2=(at(top)) {}
            line.grid x1=(at(LEFT)) x2=(at(RIGHT)) y1=(at(bottom)) y2=(at(bottom)) {}
            text x=(at(LEFT - 6.0)) y=(at(top + 4.0)) text-anchor="end" { ((lane.text)(lane.most())) }
            text.name x=(at(LEFT - 6.0)) y=(at(bottom + 2.0)) text-anchor="end" { (lane.name) }
        }
        path class={ "line " (lane.class) } d=(path(lane.values.iter().enumerate().map(point))) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_that_says_nothing_is_left_out_and_a_gap_is_a_gap() {
        let device = DeviceCounts { read_bytes: 1 << 20, written_bytes: 0, flushes: 0 };
        let window = |at: usize| SeriesWindow {
            sampled: true,
            device: (at != 2).then_some(device),
            dirty_bytes: Some(1000),
            steal_share: Some(0.001),
            ..SeriesWindow::default()
        };
        let series = RunSeries {
            interval_ns: 1_000_000_000,
            windows: (0..5).map(window).collect(),
            ..RunSeries::default()
        };
        let names: Vec<&str> = lanes(&series).iter().map(|lane| lane.name).collect();
        assert_eq!(names, ["disk reads"]);
        let page = chart(&series).unwrap().into_string();
        assert!(page.contains("disk reads at most 1.00 MiB/s"), "{page}");
        // Two lines: before the gap and after it.
        let line =
            page.split("class=\"line read\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!(line.matches('M').count(), 2, "{line}");
    }
}
