//! Points joined by lines: a figure against a load, a rate or a block size.

use super::frame::{LEFT, RIGHT, SERIES, at, below_legend, cut, path, width};
use super::lines::{DrawnLine, ExtremesStyle, LineChart, LinePoint, XAxis, YAxis};
use super::scale::{Scale, log_ticks};
use crate::unit::FigureUnit;
use maud::{Markup, html};

/// Height of the drawing below the legend.
const HIGH: f64 = 230.0;
/// Points with words beside them at most.
const LABELLED_MOST: usize = 40;

/// One point.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChartPoint {
    pub x: f64,
    pub y: f64,
    /// The lowest and the highest of the runs.
    pub range: Option<(f64, f64)>,
    /// Words beside it, if any.
    pub label: String,
}

/// Points that are joined.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointSeries {
    pub name: String,
    pub points: Vec<ChartPoint>,
}

/// An axis.
#[derive(Clone, Debug)]
pub(crate) struct PointAxis {
    pub name: String,
    pub unit: FigureUnit,
    pub is_log: bool,
    /// The values that it names; round ones where there are none.
    pub labels: Vec<(f64, String)>,
}

/// What is drawn besides the points.
#[derive(Clone, Debug)]
pub(crate) enum ChartMark {
    /// A thin line through points, with words at its end.
    Bound { points: Vec<(f64, f64)>, words: String },
    /// A vertical line, and the interval that it may lie in.
    Vertical { x: f64, range: Option<(f64, f64)>, words: String },
    /// A place, with words.
    Place { x: f64, y: f64, words: String },
}

/// A chart of points.
pub(crate) struct PointChart<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub finding: String,
    pub x: PointAxis,
    pub y: PointAxis,
    pub series: &'a [PointSeries],
    pub marks: &'a [ChartMark],
    pub table: (Vec<&'a str>, Vec<Vec<String>>),
}

impl PointChart<'_> {
    /// The chart, if it has two points.
    pub(crate) fn markup(self) -> Option<Markup> {
        let some = self.series.iter().filter(|one| !one.points.is_empty());
        let lines: Vec<DrawnLine> =
            SERIES.into_iter().cycle().zip(some).map(|(class, one)| one.line(class)).collect();
        let points = || self.series.iter().flat_map(|one| &one.points);
        if points().count() < 2 {
            return None;
        }
        let has_legend = lines.len() > 1;
        let top = if has_legend { below_legend(lines.iter().map(|line| &line.key)) } else { 18.0 };
        let bottom = top + HIGH;
        let marked = self.marks.iter().flat_map(ChartMark::places);
        let places: Vec<(f64, f64)> = points().flat_map(ChartPoint::ends).chain(marked).collect();
        let x = self.x.scale(places.iter().map(|place| place.0), (LEFT, RIGHT));
        let mut y = self.y.scale(places.iter().map(|place| place.1), (bottom, top));
        if self.y.is_log && self.marks.iter().any(|mark| matches!(mark, ChartMark::Place { .. })) {
            // Room for the words below a place.
            y = Scale::log(y.low() / (y.high() / y.low()).powf(0.14), y.high(), bottom, top);
        }
        let chart = LineChart {
            id: self.id,
            title: self.title,
            finding: self.finding,
            lines,
            has_legend,
            behind: html! { @for mark in self.marks { (mark.markup(&x, &y)) } },
            above: labels(self.series, &x, &y),
            x: XAxis { labels: self.x.labels(&x), scale: x, name: self.x.name.clone() },
            y: YAxis { ticks: self.y.ticks(&y), scale: y, unit: self.y.unit },
            table: self.table,
        };
        Some(chart.markup())
    }
}

impl ChartPoint {
    /// The lowest and the highest place that it stands for.
    fn ends(&self) -> [(f64, f64); 2] {
        let (low, high) = self.range.unwrap_or((self.y, self.y));
        [(self.x, low), (self.x, high)]
    }
}

impl PointSeries {
    fn line(&self, class: &'static str) -> DrawnLine {
        let point = |point: &ChartPoint| {
            let (low, high) = point.range.unwrap_or((point.y, point.y));
            Some(LinePoint { x: point.x, y: point.y, low, high })
        };
        DrawnLine {
            extremes: ExtremesStyle::Bars,
            has_markers: true,
            ..DrawnLine::new(class, &self.name, self.points.iter().map(point).collect())
        }
    }
}

/// Words beside points, where they do not lie on one another.
fn labels(series: &[PointSeries], x: &Scale, y: &Scale) -> Markup {
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    let points = series.iter().flat_map(|one| &one.points);
    let mut placed = Vec::new();
    for point in points.filter(|point| !point.label.is_empty()).take(LABELLED_MOST) {
        let wide = width(&point.label);
        let (px, py) = (x.at(point.x), y.at(point.y) - 10.0);
        let left = px - wide / 2.0;
        let is_free = |&(other, high, width): &(f64, f64, f64)| {
            (py - high).abs() > 12.0 || left > other + width || other > left + wide
        };
        if taken.iter().all(is_free) {
            taken.push((left, py, wide));
            placed.push((px, py, &point.label));
        }
    }
    html! {
        @for (x, y, label) in placed {
            text.point x=(at(x)) y=(at(y)) text-anchor="middle" { (label) }
        }
    }
}

impl ChartMark {
    /// The places that the scales must reach.
    fn places(&self) -> Vec<(f64, f64)> {
        match self {
            ChartMark::Bound { points, .. } => points.clone(),
            ChartMark::Place { x, y, .. } => vec![(*x, *y)],
            // It spans the whole height.
            ChartMark::Vertical { .. } => Vec::new(),
        }
    }

    fn markup(&self, x: &Scale, y: &Scale) -> Markup {
        let (bottom, top) = y.ends();
        match self {
            ChartMark::Bound { points, words } => {
                let places: Vec<(f64, f64)> =
                    points.iter().map(|point| (x.at(point.0), y.at(point.1))).collect();
                let (first, last) = (places.first(), places.last());
                let is_upright =
                    first.zip(last).is_some_and(|(first, last)| (first.0 - last.0).abs() < 1.0);
                html! {
                    path.bound d=(path(places.iter().copied().map(Some))) {}
                    @if let Some(&(px, py)) = last {
                        // Points with labels are near the upper end of an upright line.
                        @let height = if is_upright { bottom - 8.0 } else { py - 6.0 };
                        text.name x=(at(px - 5.0)) y=(at(height)) text-anchor="end" { (words) }
                    }
                }
            }
            ChartMark::Vertical { x: value, range, words } => {
                let place = x.at(*value);
                let is_late = place + 6.0 + width(words) > RIGHT;
                let (side, anchor) = if is_late { (-6.0, "end") } else { (6.0, "start") };
                html! {
                    @if let Some((low, high)) = range {
                        rect.band x=(at(x.at(*low))) width=(at((x.at(*high) - x.at(*low)).max(1.0)))
                            y=(at(top)) height=(at(bottom - top)) {}
                    }
                    line.change x1=(at(place)) x2=(at(place)) y1=(at(top)) y2=(at(bottom)) {}
                    text.change x=(at(place + side)) y=(at(bottom - 24.0)) text-anchor=(anchor) { (words) }
                }
            }
            ChartMark::Place { x: value, y: height, words } => {
                let (px, py) = (x.at(*value), y.at(*height));
                let (side, anchor) =
                    if px + 9.0 + width(words) > RIGHT { (-9.0, "end") } else { (9.0, "start") };
                html! {
                    path.place d={ "M" (at(px)) " " (at(py)) "m0 -6l6 6l-6 6l-6 -6z" } {}
                    text.change x=(at(px + side)) y=(at(py + 18.0)) text-anchor=(anchor) { (words) }
                }
            }
        }
    }
}

impl PointAxis {
    /// An axis with its name.
    pub fn new(name: impl Into<String>, unit: FigureUnit, is_log: bool) -> PointAxis {
        PointAxis { name: name.into(), unit, is_log, labels: Vec::new() }
    }

    fn scale(&self, values: impl Iterator<Item = f64>, (start, end): (f64, f64)) -> Scale {
        let (low, high) =
            values.fold((f64::MAX, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        if self.is_log {
            Scale::log(low.max(1e-9) / 1.12, high * 1.12, start, end)
        } else {
            let ticks = self.unit.ticks(high);
            // Named values end the axis themselves.
            let last = ticks[ticks.len() - 1];
            // A point on the border would be cut.
            let most = if self.labels.is_empty() { last.max(high * 1.05) } else { high * 1.04 };
            Scale::linear(0.0, most, start, end)
        }
    }

    fn ticks(&self, scale: &Scale) -> Vec<f64> {
        if self.is_log {
            log_ticks(scale.low(), scale.high(), self.unit.is_binary())
        } else {
            let round = self.unit.ticks(scale.high()).into_iter();
            round.filter(|&tick| tick <= scale.high() * 1.000_001).collect()
        }
    }

    /// The labels of the axis below the drawing that have room.
    fn labels(&self, scale: &Scale) -> Vec<(f64, String)> {
        let round =
            || self.ticks(scale).into_iter().map(|tick| (tick, self.unit.round(tick))).collect();
        let all: Vec<(f64, String)> =
            if self.labels.is_empty() { round() } else { self.labels.clone() };
        let mut end = f64::MIN;
        let mut kept = Vec::new();
        for (value, label) in all {
            let label = cut(&label, 14);
            let half = width(&label) / 2.0;
            if scale.at(value) - half > end + 6.0 {
                end = scale.at(value) + half;
                kept.push((value, label));
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(series: &[PointSeries]) -> Option<String> {
        let chart = PointChart {
            id: "x",
            title: "title",
            finding: String::new(),
            x: PointAxis::new("load", FigureUnit::Count, true),
            y: PointAxis::new("IOPS", FigureUnit::Count, false),
            series,
            marks: &[],
            table: (Vec::new(), Vec::new()),
        };
        chart.markup().map(Markup::into_string)
    }

    fn series(points: &[(f64, f64)]) -> PointSeries {
        let points = points.iter().map(|&(x, y)| ChartPoint {
            x,
            y,
            label: format!("d{x}"),
            ..ChartPoint::default()
        });
        PointSeries { name: "read".into(), points: points.collect() }
    }

    #[test]
    fn a_line_needs_two_points() {
        assert!(chart(&[series(&[(1.0, 10.0)])]).is_none());
        assert!(chart(&[series(&[(1.0, 10.0), (2.0, 20.0)])]).is_some());
    }

    #[test]
    fn words_that_would_lie_on_others_are_left_out() {
        let page = chart(&[series(&[(1.0, 10.0), (1.001, 10.0), (64.0, 20.0)])]).unwrap();
        assert!(page.contains(">d1<") && page.contains(">d64<") && !page.contains(">d1.001<"));
    }
}
