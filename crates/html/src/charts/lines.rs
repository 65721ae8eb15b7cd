//! The chart of lines between two axes. All that draw a figure against time, bytes, rounds or a load
//! fill one in; [`LinesChart`] is the one that other crates fill in.

use super::frame::{
    Chart, ChartTable, KeyEntry, LEFT, NAME_LETTERS, RIGHT, SERIES, at, below_legend, legend,
    marker, path, x_axis, y_axis,
};
use super::heat::latency_ticks;
use super::scale::Scale;
use crate::FigureUnit;
use iosonde_base::Dir;
use maud::{Markup, html};

/// Height of the drawing below its legend.
const HEIGHT: f64 = 210.0;
/// More bands than these hide each other.
const BANDS_MOST: usize = 3;

/// A chart of lines as it is drawn; one without lines is its axes and what else it has.
pub(crate) struct LineChart<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub finding: String,
    pub x: XAxis,
    pub y: YAxis,
    pub lines: Vec<DrawnLine>,
    /// The names of the lines stand above them.
    pub has_legend: bool,
    /// Drawn before the lines.
    pub behind: Markup,
    /// Drawn after them.
    pub above: Markup,
    pub table: ChartTable<'a>,
}

/// The axis below the drawing.
pub(crate) struct XAxis {
    pub scale: Scale,
    /// The values that it names.
    pub labels: Vec<(f64, String)>,
    /// What it is of.
    pub name: String,
}

/// The axis on the left.
pub(crate) struct YAxis {
    pub scale: Scale,
    /// The values that it names.
    pub ticks: Vec<f64>,
    pub unit: FigureUnit,
}

/// One line of a chart.
pub(crate) struct DrawnLine {
    /// Its class, a marker beside its name, and its name.
    pub key: KeyEntry,
    /// From left to right; `None` leaves a gap.
    pub points: Vec<Option<LinePoint>>,
    /// How the extremes are drawn.
    pub extremes: ExtremesStyle,
    /// Each point has the marker of the class.
    pub has_markers: bool,
    /// It is thin and pale, since the points matter.
    pub is_light: bool,
}

/// How the extremes of points are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExtremesStyle {
    Hidden,
    /// An area along the line.
    Band,
    /// A vertical line at each point.
    Bars,
}

impl YAxis {
    /// A value that it names: in one unit where equal steps are equal differences.
    fn text(&self, value: f64) -> String {
        match self.ticks.as_slice() {
            [first, second, ..] if *first == 0.0 => self.unit.on_axis(value, *second),
            _ => self.unit.round(value),
        }
    }

    /// From zero to a round value that is not below `most`.
    pub(crate) fn from_zero(unit: FigureUnit, most: f64, (bottom, top): (f64, f64)) -> YAxis {
        let ticks = unit.ticks(most);
        let scale = Scale::linear(0.0, ticks[ticks.len() - 1], bottom, top);
        YAxis { scale, ticks, unit }
    }

    /// Latencies, whose equal ratios are equal steps.
    pub(crate) fn of_ratios(
        unit: FigureUnit,
        (low, high): (f64, f64),
        (bottom, top): (f64, f64),
    ) -> YAxis {
        YAxis { scale: Scale::log(low, high, bottom, top), ticks: latency_ticks(low, high), unit }
    }
}

impl DrawnLine {
    /// A plain line.
    pub fn new(class: &'static str, name: &str, points: Vec<Option<LinePoint>>) -> DrawnLine {
        DrawnLine {
            key: KeyEntry::marked(class, name),
            points,
            extremes: ExtremesStyle::Hidden,
            has_markers: false,
            is_light: false,
        }
    }

    fn markup(&self, x: &Scale, y: &Scale) -> Markup {
        let class = self.key.class;
        let place = |point: &LinePoint| (x.at(point.x), y.at(point.y));
        let has_bars = self.extremes == ExtremesStyle::Bars;
        let light = if self.is_light { "light " } else { "" };
        html! {
            path class={ "line " (light) (class) } data-series=(class)
                d=(path(self.points.iter().map(|point| point.as_ref().map(place)))) {}
            @for point in self.points.iter().flatten() {
                @if has_bars && point.high > point.low {
                    @let at_x = at(x.at(point.x));
                    line.range x1=(at_x) x2=(at_x) y1=(at(y.at(point.low))) y2=(at(y.at(point.high)))
                        data-series=(class) {}
                }
                @if self.has_markers { (marker(class, place(point))) }
            }
        }
    }

    /// The area between the extremes, a part for each stretch without a gap.
    fn band(&self, x: &Scale, y: &Scale) -> String {
        let place =
            |value: f64, point: &LinePoint| format!("{} {}", at(x.at(point.x)), at(y.at(value)));
        let mut text = String::new();
        for part in self.points.split(Option::is_none).filter(|part| !part.is_empty()) {
            let above = part.iter().flatten().map(|point| place(point.high, point));
            let below = part.iter().flatten().rev().map(|point| place(point.low, point));
            let corners: Vec<String> = above.chain(below).collect();
            text.push_str(&format!("M{}Z", corners.join("L")));
        }
        text
    }

    fn has_band(&self) -> bool {
        self.extremes == ExtremesStyle::Band
            && self.points.iter().flatten().any(|point| point.low < point.high)
    }
}

impl LineChart<'_> {
    /// The chart as a part of the page.
    pub(crate) fn markup(self) -> Markup {
        let (x, y) = (&self.x.scale, &self.y.scale);
        let bottom = y.ends().0;
        let drawing = html! {
            (y_axis(&self.y.ticks, y, |value| self.y.text(value)))
            (x_axis(&self.x.labels, x, bottom, &self.x.name))
            (self.behind)
            @for line in self.lines.iter().filter(|line| line.has_band()) {
                @let class = line.key.class;
                path class={ "band " (class) } data-series=(class) d=(line.band(x, y)) {}
            }
            @for line in &self.lines { (line.markup(x, y)) }
            (self.above)
            @if self.has_legend { (legend(self.lines.iter().map(|line| &line.key))) }
        };
        let (id, title, finding, table) = (self.id, self.title, self.finding, self.table);
        Chart { id, title, finding, height: bottom + 40.0, drawing, table }.markup()
    }
}

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
    let has_bands = chart.lines.len() <= BANDS_MOST;
    let lines: Vec<DrawnLine> = chart.lines.iter().map(|line| drawn(line, has_bands)).collect();
    let top = below_legend(lines.iter().map(|line| &line.key));
    let ends = (top + HEIGHT, top);
    let y = if chart.is_log {
        let positive = all().map(|point| point.low).filter(|&low| low > 0.0);
        let least = positive.fold(most, f64::min) * 0.8;
        YAxis::of_ratios(chart.y, (least, most * 1.2), ends)
    } else {
        YAxis::from_zero(chart.y, most, ends)
    };
    let (unit, name) = &chart.x;
    let scale = Scale::linear(start, end, LEFT, RIGHT);
    let (heads, rows) = &chart.table;
    let chart = LineChart {
        id: &chart.id,
        title: &chart.title,
        finding: chart.finding.clone(),
        behind: chart.range.as_ref().map_or_else(Markup::default, |range| marked(range, &y.scale)),
        x: XAxis { scale, labels: unit.labels(end), name: name.clone() },
        y,
        lines,
        has_legend: true,
        above: Markup::default(),
        table: (heads.iter().map(String::as_str).collect(), rows.clone()),
    };
    Some(chart.markup())
}

/// A line with its gaps.
fn drawn(line: &ChartLine, has_band: bool) -> DrawnLine {
    let mut points: Vec<Option<LinePoint>> = Vec::new();
    for &point in &line.points {
        let last = points.last().copied().flatten();
        if last.is_some_and(|last: LinePoint| point.x - last.x > line.gap) {
            points.push(None);
        }
        points.push(Some(point));
    }
    let key = KeyEntry { class: line.style.class(), name: shortened(&line.name), is_marked: false };
    let extremes = if has_band { ExtremesStyle::Band } else { ExtremesStyle::Hidden };
    DrawnLine { key, points, extremes, has_markers: false, is_light: false }
}

fn marked(range: &MarkedRange, y: &Scale) -> Markup {
    let (top, bottom) = (y.at(range.high), y.at(range.low));
    html! {
        rect.marked x=(at(LEFT)) y=(at(top)) width=(at(RIGHT - LEFT)) height=(at((bottom - top).max(1.0))) {}
        text.name x=(at(LEFT + 6.0)) y=(at(top - 4.0)) { (range.name) }
    }
}

/// A name for the legend: of a long one the end, in which files differ.
fn shortened(name: &str) -> String {
    let letters = name.chars().count();
    if letters > NAME_LETTERS {
        std::iter::once('~').chain(name.chars().skip(letters - NAME_LETTERS + 1)).collect()
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
        let line = drawn(&line, true);
        let text = line.markup(&scale, &scale).into_string();
        assert!(text.contains("M0 1h.5L1 1M4 2h.5L5 2"), "{text}");
        assert_eq!(line.band(&scale, &scale).matches('M').count(), 2);
    }

    #[test]
    fn a_legend_takes_as_many_lines_as_it_needs() {
        let named =
            |name: &str| drawn(&ChartLine { name: name.into(), ..line(&[(0.0, 0.0)]) }, false).key;
        let long = "x".repeat(60);
        let (two, four) = ([named("a"), named("b")], [0; 4].map(|_| named(&long)));
        assert!(below_legend(&four) > below_legend(&two));
        assert!(legend(&four).into_string().contains(&format!("~{}<", "x".repeat(39))));
    }
}
