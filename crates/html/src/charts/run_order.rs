//! A figure against the number of the run: shows a drift, and runs that fall
//! out.

use super::frame::{LEFT, RIGHT, TOP};
use super::lines::{DrawnLine, LineChart, LinePoint, XAxis, YAxis};
use super::scale::{Scale, ticks};
use crate::compared::{ComparedFigure, RunPlace};
use maud::Markup;

const BOTTOM: f64 = 196.0;
/// Runs with a marker of their own at most: more are a line.
const MARKED_MOST: usize = 240;
/// Rows of the table at most.
const ROWS_MOST: usize = 200;

/// The chart of one figure: `places` has each run in the order in which they
/// were made.
pub(crate) fn chart(number: usize, figure: &ComparedFigure, places: &[RunPlace]) -> Option<Markup> {
    let points: [Vec<(f64, f64)>; 2] = [0, 1].map(|side| points(figure, places, side));
    let most = points.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
    if points.iter().any(Vec::is_empty) || most <= 0.0 {
        return None;
    }
    let count = places.len() as f64;
    let whole = |tick: &f64| *tick >= 1.0 && *tick <= count && tick.fract() == 0.0;
    let labels: Vec<(f64, String)> = std::iter::once(1.0)
        .chain(ticks(count).into_iter().filter(whole).filter(|&tick| tick > 1.0))
        .map(|tick| (tick, format!("{tick:.0}")))
        .collect();
    let line = |(class, name, points): (&'static str, &str, &Vec<(f64, f64)>)| DrawnLine {
        has_markers: points.len() <= MARKED_MOST,
        is_light: true,
        ..DrawnLine::new(
            class,
            name,
            points.iter().map(|&(run, value)| Some(LinePoint::single(run, value))).collect(),
        )
    };
    let chart = LineChart {
        id: &format!("order-{}", number + 1),
        title: &format!("{} of each run, in order", figure.label),
        finding: finding(figure),
        x: XAxis {
            scale: Scale::linear(0.5, count + 0.5, LEFT, RIGHT),
            labels,
            name: "number of the run, in order".to_owned(),
        },
        y: YAxis::from_zero(figure.unit, most, (BOTTOM, TOP)),
        lines: [("a", "A", &points[0]), ("b", "B", &points[1])].map(line).into(),
        has_legend: true,
        behind: Markup::default(),
        above: Markup::default(),
        table: table(figure, places),
    };
    Some(chart.markup())
}

/// The number and the value of each run of a side.
fn points(figure: &ComparedFigure, places: &[RunPlace], side: usize) -> Vec<(f64, f64)> {
    let of_side = places.iter().enumerate().filter(|(_, place)| place.side == side);
    of_side
        .filter_map(|(at, place)| Some((at as f64 + 1.0, *figure.runs[side].get(place.index)?)))
        .collect()
}

fn finding(figure: &ComparedFigure) -> String {
    let range = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::MAX, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        format!("{} to {}", figure.unit.text(low), figure.unit.text(high))
    };
    let [a, b] = &figure.runs;
    format!("A from {}, B from {}. A slope common to both is a drift.", range(a), range(b))
}

fn table<'a>(figure: &ComparedFigure, places: &[RunPlace]) -> (Vec<&'a str>, Vec<Vec<String>>) {
    let row = |(at, place): (usize, &RunPlace)| {
        let value = figure.runs[place.side].get(place.index);
        vec![
            (at + 1).to_string(),
            ["A", "B"][place.side].to_owned(),
            value.map_or("-".to_owned(), |value| figure.unit.text(*value)),
        ]
    };
    (vec!["run", "side", "value"], places.iter().enumerate().take(ROWS_MOST).map(row).collect())
}
