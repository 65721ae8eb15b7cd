//! Lines of any figure against time, bytes or rounds: logs, and whatever else is
//! a series of numbers.

use super::frame::{Chart, LEFT, RIGHT, at, in_lines, path, x_axis, y_axis};
use super::heat::latency_ticks;
use super::scale::Scale;
use crate::FigureUnit;
use iosonde_base::Dir;
use maud::{Markup, html};

/// Height of the drawing below its legend.
const HEIGHT: f64 = 210.0;
/// Letters of a name in the legend.
const NAME_MOST: usize = 40;
/// More bands than these hide each other.
const BANDS_MOST: usize = 3;

/// A point of a line, with the extremes of what it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePoint {
    /// Where.
    pub x: f64,
    /// The value: a mean where it stands for several.
    pub y: f64,
    /// The smallest of them.
    pub low: f64,
    /// The largest of them.
    pub high: f64,
}

impl LinePoint {
    /// A point that stands for one value.
    pub fn single(x: f64, y: f64) -> LinePoint {
        LinePoint { x, y, low: y, high: y }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStyle {
    /// As the direction everywhere is.
    Dir(Dir),
    /// As one of several; from the tenth on the styles repeat.
    Series(usize),
    /// The sum of others.
    Sum,
}

/// The styles of several, which differ in colour and in dashes.
pub(crate) const SERIES: [&str; 10] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"];

impl LineStyle {
    pub(crate) fn class(self) -> &'static str {
        match self {
            LineStyle::Dir(dir) => crate::figures::class(dir),
            LineStyle::Series(number) => SERIES[number % SERIES.len()],
            LineStyle::Sum => "total",
        }
    }
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartLine {
    /// Its name in the legend.
    pub name: String,
    /// How it is drawn.
    pub style: LineStyle,
    /// Its points, from left to right.
    pub points: Vec<LinePoint>,
    /// Points that are further apart are not joined.
    pub gap: f64,
}

/// A range of values that is marked across the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedRange {
    /// Its lower border.
    pub low: f64,
    /// Its upper border.
    pub high: f64,
    /// What it is.
    pub name: String,
}

/// A chart of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct LinesChart {
    /// A name for links, of letters, digits and hyphens.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Its finding, a sentence.
    pub finding: String,
    /// The x axis, and what it is of.
    pub x: (FigureUnit, String),
    /// The y axis.
    pub y: FigureUnit,
    /// Equal steps of the y axis are equal ratios; else it begins at zero.
    pub is_log: bool,
    /// The lines, in the order of the legend.
    pub lines: Vec<ChartLine>,
    /// A range that is marked.
    pub range: Option<MarkedRange>,
    /// Its numbers: heads and rows.
    pub table: (Vec<String>, Vec<Vec<String>>),
}

/// The chart; `None` without a point.
pub(crate) fn chart(chart: &LinesChart) -> Option<Markup> {
    let all = || chart.lines.iter().flat_map(|line| &line.points);
    let first = all().next()?;
    let range_high = chart.range.as_ref().map_or(0.0, |range| range.high);
    let most = all().map(|point| point.high).fold(range_high, f64::max);
    let start = all().map(|point| point.x).fold(first.x, f64::min).min(0.0);
    let end = all().map(|point| point.x).fold(first.x, f64::max);
    let (legend, top) = legend(&chart.lines);
    let bottom = top + HEIGHT;
    let (y_ticks, y) = if chart.is_log {
        let positive = all().map(|point| point.low).filter(|&low| low > 0.0);
        let least = positive.fold(most, f64::min) * 0.8;
        (latency_ticks(least, most * 1.2), Scale::log(least, most * 1.2, bottom, top))
    } else {
        let ticks = chart.y.ticks(most);
        let end = ticks[ticks.len() - 1];
        (ticks, Scale::linear(0.0, end, bottom, top))
    };
    let x = Scale::linear(start, end, LEFT, RIGHT);
    let labels: Vec<(f64, String)> = chart
        .x
        .0
        .ticks(end)
        .into_iter()
        .filter(|&tick| tick <= end)
        .map(|tick| (tick, chart.x.0.text(tick)))
        .collect();
    let has_bands = chart.lines.len() <= BANDS_MOST;
    let drawing = html! {
        (y_axis(&y_ticks, &y, |value| chart.y.text(value)))
        (x_axis(&labels, &x, bottom, &chart.x.1))
        @if let Some(range) = &chart.range { (marked(range, &y)) }
        @for (index, line) in chart.lines.iter().enumerate() {
            @let class = line.style.class();
            @if has_bands && line.points.iter().any(|point| point.low < point.high) {
                path class={ "band " (class) } data-series={ "l" (index) } d=(band(line, &x, &y)) {}
            }
            path class={ "line " (class) } data-series={ "l" (index) } d=(joined(line, &x, &y)) {}
        }
        (legend)
    };
    let heads: Vec<&str> = chart.table.0.iter().map(String::as_str).collect();
    Some(
        Chart {
            id: &chart.id,
            title: &chart.title,
            finding: chart.finding.clone(),
            height: bottom + 40.0,
            drawing,
            table: (heads, chart.table.1.clone()),
        }
        .markup(),
    )
}

/// The points joined, apart from gaps.
fn joined(line: &ChartLine, x: &Scale, y: &Scale) -> String {
    let mut last: Option<f64> = None;
    path(line.points.iter().flat_map(|point| {
        let is_gap = last.is_some_and(|last| point.x - last > line.gap);
        last = Some(point.x);
        let place = Some((x.at(point.x), y.at(point.y)));
        is_gap.then_some(None).into_iter().chain([place])
    }))
}

/// The area between the extremes, a part for each stretch without a gap.
fn band(line: &ChartLine, x: &Scale, y: &Scale) -> String {
    let is_joined = |pair: &[LinePoint]| pair[1].x - pair[0].x <= line.gap;
    let mut text = String::new();
    let mut rest = &line.points[..];
    while !rest.is_empty() {
        let joined = rest.windows(2).take_while(|pair| is_joined(pair)).count() + 1;
        let (part, after) = rest.split_at(joined);
        let place =
            |value: f64, point: &LinePoint| format!("{} {}", at(x.at(point.x)), at(y.at(value)));
        let above = part.iter().map(|point| place(point.high, point));
        let below = part.iter().rev().map(|point| place(point.low, point));
        let corners: Vec<String> = above.chain(below).collect();
        text.push_str(&format!("M{}Z", corners.join("L")));
        rest = after;
    }
    text
}

fn marked(range: &MarkedRange, y: &Scale) -> Markup {
    let (top, bottom) = (y.at(range.high), y.at(range.low));
    html! {
        rect.marked x=(at(LEFT)) y=(at(top)) width=(at(RIGHT - LEFT)) height=(at((bottom - top).max(1.0))) {}
        text.name x=(at(LEFT + 6.0)) y=(at(top - 4.0)) { (range.name) }
    }
}

/// The lines with their styles in as many lines as they need, and where the
/// drawing begins below them.
fn legend(lines: &[ChartLine]) -> (Markup, f64) {
    let names: Vec<String> = lines.iter().map(|line| shortened(&line.name)).collect();
    let wide = |name: &String| 44.0 + 7.2 * name.chars().count() as f64;
    let places = in_lines(names.iter().map(wide), RIGHT);
    let below = 26.0 + places.last().map_or(0.0, |place| place.1);
    let drawing = html! {
        @for (index, (((x, y), name), line)) in places.into_iter().zip(&names).zip(lines).enumerate() {
            g.key data-series={ "l" (index) } {
                line class={ "line " (line.style.class()) } x1=(at(x)) x2=(at(x + 24.0)) y1=(at(y + 11.0)) y2=(at(y + 11.0)) {}
                text x=(at(x + 30.0)) y=(at(y + 15.0)) { (name) }
            }
        }
    };
    (drawing, below)
}

/// A name for the legend: of a long one the end, in which files differ.
fn shortened(name: &str) -> String {
    let letters = name.chars().count();
    if letters > NAME_MOST {
        std::iter::once('~').chain(name.chars().skip(letters - NAME_MOST + 1)).collect()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(f64, f64)]) -> ChartLine {
        ChartLine {
            name: "a".into(),
            style: LineStyle::Series(11),
            points: points.iter().map(|&(x, y)| LinePoint::single(x, y)).collect(),
            gap: 1.5,
        }
    }

    #[test]
    fn points_far_apart_are_not_joined() {
        let scale = Scale::linear(0.0, 10.0, 0.0, 10.0);
        let line = line(&[(0.0, 1.0), (1.0, 1.0), (4.0, 2.0), (5.0, 2.0)]);
        assert_eq!(joined(&line, &scale, &scale), "M0 1h.5L1 1M4 2h.5L5 2");
        assert_eq!(band(&line, &scale, &scale).matches('M').count(), 2);
    }

    #[test]
    fn a_legend_takes_as_many_lines_as_it_needs() {
        let named = |name: &str| ChartLine { name: name.into(), ..line(&[(0.0, 0.0)]) };
        let (_, one) = legend(&[named("a"), named("b")]);
        let long = "x".repeat(60);
        let (text, four) = legend(&[named(&long), named(&long), named(&long), named(&long)]);
        assert!(four > one);
        assert!(text.into_string().contains(&format!("~{}<", "x".repeat(39))));
    }
}
