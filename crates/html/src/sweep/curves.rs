//! Curves of a sweep: latency against throughput, and both against what was
//! varied.

use super::{
    AxisValue, KneePlace, LINES_MOST, SweepPage, SweptKind, SweptPoint, axis_values, kind_name,
    lanes, percentiles,
};
use crate::charts::frame::cut;
use crate::charts::points::{ChartMark, ChartPoint, PointAxis, PointChart, PointSeries};
use crate::unit::FigureUnit;
use maud::Markup;

/// Points along one axis, with one value of each of the others.
pub(super) struct PointGroup<'a> {
    name: String,
    points: Vec<&'a SweptPoint>,
}

/// The axis along which lines run: the load, else the one of most values.
fn along(sweep: &SweepPage<'_>) -> usize {
    let values = |axis: usize| axis_values(sweep, axis).len();
    sweep.load_axis.unwrap_or_else(|| {
        (0..sweep.axes.len()).rev().max_by_key(|&axis| values(axis)).unwrap_or(0)
    })
}

pub(super) fn groups<'a>(sweep: &'a SweepPage<'_>) -> Vec<PointGroup<'a>> {
    let along = along(sweep);
    let mut groups: Vec<PointGroup<'a>> = Vec::new();
    for point in &sweep.points {
        let others =
            sweep.axes.iter().zip(&point.values).enumerate().filter(|(axis, _)| *axis != along);
        let words: Vec<String> =
            others.map(|(_, (name, value))| format!("{name}={}", value.text)).collect();
        let name = words.join(" ");
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.points.push(point),
            None => groups.push(PointGroup { name, points: vec![point] }),
        }
    }
    groups.truncate(LINES_MOST);
    groups
}

/// Where lines are of one percentile only, its name.
fn only_kind(sweep: &SweepPage<'_>, lane: &str, groups: &[PointGroup<'_>]) -> String {
    let last = percentiles(sweep, lane).pop().filter(|_| groups.len() > 1);
    last.map_or(String::new(), |kind| format!(" {}", kind_name(kind)))
}

/// Lines of a group: one for each percentile, named by what differs.
fn latency_lines<'a>(
    sweep: &'a SweepPage<'_>,
    lane: &str,
    groups: &'a [PointGroup<'a>],
    x: &dyn Fn(&SweptPoint) -> Option<f64>,
    label: &dyn Fn(&SweptPoint) -> String,
) -> Vec<PointSeries> {
    let mut kinds = percentiles(sweep, lane);
    if groups.len() > 1 {
        // One percentile of each, or there are too many lines: the tail.
        kinds = kinds.into_iter().next_back().into_iter().collect();
    }
    // Words at many lines would lie on one another.
    let is_labelled = |kind: SweptKind| groups.len() == 1 && kinds.last() == Some(&kind);
    let mut lines = Vec::new();
    for group in groups {
        for &kind in &kinds {
            let points = group.points.iter().filter_map(|point| {
                let figure = point.figure(lane, kind)?;
                Some(ChartPoint {
                    x: x(point)?,
                    y: figure.value,
                    range: Some(figure.range),
                    label: if is_labelled(kind) { label(point) } else { String::new() },
                })
            });
            let name = match groups.len() {
                1 => kind_name(kind),
                _ => group.name.clone(),
            };
            lines.push(PointSeries { name, points: points.collect() });
        }
    }
    lines
}

/// The knee of the only line, if the load is the axis and one direction has all
/// I/Os: the bounds are of all of them.
fn knee_of(sweep: &SweepPage<'_>, groups: &[PointGroup<'_>]) -> Option<KneePlace> {
    sweep.load_axis?;
    match (&sweep.knees[..], groups.len(), lanes(sweep).len()) {
        ([knee], 1, 1) => knee.place,
        _ => None,
    }
}

pub(super) fn against_throughput(
    sweep: &SweepPage<'_>,
    lane: &str,
    groups: &[PointGroup<'_>],
) -> Option<Markup> {
    let along = along(sweep);
    let iops = |point: &SweptPoint| Some(point.figure(lane, SweptKind::Iops)?.value);
    let label = |point: &SweptPoint| {
        point.values.get(along).map_or(String::new(), |value| cut(&value.text, 12))
    };
    let series = latency_lines(sweep, lane, groups, &iops, &label);
    let mut marks = Vec::new();
    if let Some(knee) = knee_of(sweep, groups) {
        let points = series.iter().flat_map(|one| &one.points);
        let most = points.map(|point| point.y).fold(knee.ns_least * 2.0, f64::max);
        let (rate, least) = (knee.iops_most, knee.ns_least);
        marks.push(ChartMark::Bound {
            points: vec![(rate, least), (rate, most)],
            words: format!("at most {} IOPS", FigureUnit::Count.text(rate)),
        });
        marks.push(ChartMark::Bound {
            points: vec![(0.0, least), (rate * 0.45, least)],
            words: format!("at least {}", FigureUnit::Nanoseconds.text(least)),
        });
        marks.push(ChartMark::Place { x: rate, y: least, words: knee_words(&knee) });
    }
    let chart = PointChart {
        id: &format!("curve-{lane}"),
        title: &format!("Latency against throughput: {lane}{}", only_kind(sweep, lane, groups)),
        finding: format!(
            "One point for each value of {}. To the right is more throughput, up is more waiting.",
            sweep.axes.get(along).map_or("", String::as_str)
        ),
        x: PointAxis::new(format!("{lane} IOPS"), FigureUnit::Count, false),
        y: PointAxis::new("latency", FigureUnit::Nanoseconds, true),
        series: &series,
        marks: &marks,
        table: (Vec::new(), Vec::new()),
    };
    chart.markup()
}

fn knee_words(knee: &KneePlace) -> String {
    let text = |load: f64| FigureUnit::Count.text(load.round());
    let interval = knee
        .interval
        .map_or(String::new(), |(low, high)| format!(" ({} .. {})", text(low), text(high)));
    format!("knee at {}{interval} in flight", text(knee.load))
}

pub(super) fn throughput(
    sweep: &SweepPage<'_>,
    lane: &str,
    groups: &[PointGroup<'_>],
) -> Option<Markup> {
    let axis = SweepAxisScale::of(sweep);
    let line = |group: &PointGroup<'_>| PointSeries {
        name: if groups.len() > 1 { group.name.clone() } else { "median of the rounds".into() },
        points: group
            .points
            .iter()
            .filter_map(|point| {
                let figure = point.figure(lane, SweptKind::Iops)?;
                let x = axis.place(point)?;
                Some(ChartPoint {
                    x,
                    y: figure.value,
                    range: Some(figure.range),
                    label: String::new(),
                })
            })
            .collect(),
    };
    let series: Vec<PointSeries> = groups.iter().map(line).collect();
    let mut marks = Vec::new();
    if let Some(knee) = knee_of(sweep, groups) {
        let loads = || groups.iter().flat_map(|group| &group.points).map(|point| point.load);
        let (low, high) = (loads().fold(f64::MAX, f64::min), loads().fold(0.0, f64::max));
        let rise = |load: f64| (load, load * 1e9 / knee.ns_least);
        let most = knee.iops_most;
        if low < knee.load && knee.load < high {
            // A straight line is a curve on a logarithmic axis.
            let step = |at: i32| low * (knee.load / low).powf(f64::from(at) / 24.0);
            let points = (0..=24).map(|at| rise(step(at))).collect();
            marks.push(ChartMark::Bound { points, words: String::new() });
            let words = format!("at most {}", FigureUnit::Count.text(most));
            let points = vec![(knee.load, most), (high, most)];
            marks.push(ChartMark::Bound { points, words });
        }
        marks.push(ChartMark::Vertical {
            x: knee.load,
            range: knee.interval,
            words: knee_words(&knee),
        });
    }
    let name = axis.name.clone();
    let chart = PointChart {
        id: &format!("throughput-{lane}"),
        title: &format!("Throughput: {lane} IOPS against {name}"),
        finding:
            "The median of the rounds; upright lines reach from the lowest to the highest round."
                .to_owned(),
        x: axis.axis(),
        y: PointAxis::new("IOPS", FigureUnit::Count, false),
        series: &series,
        marks: &marks,
        table: (Vec::new(), Vec::new()),
    };
    chart.markup()
}

pub(super) fn latency(
    sweep: &SweepPage<'_>,
    lane: &str,
    groups: &[PointGroup<'_>],
) -> Option<Markup> {
    let axis = SweepAxisScale::of(sweep);
    let series = latency_lines(sweep, lane, groups, &|point| axis.place(point), &|_| String::new());
    let name = axis.name.clone();
    let knee = knee_of(sweep, groups).map(|knee| ChartMark::Vertical {
        x: knee.load,
        range: knee.interval,
        words: knee_words(&knee),
    });
    let chart = PointChart {
        id: &format!("latency-{lane}"),
        title: &format!("Latency against {name}: {lane}{}", only_kind(sweep, lane, groups)),
        finding:
            "Percentiles of all I/Os of a point's rounds together; upright lines reach from the \
                  lowest to the highest round."
                .to_owned(),
        x: axis.axis(),
        y: PointAxis::new("latency", FigureUnit::Nanoseconds, true),
        series: &series,
        marks: knee.as_slice(),
        table: (Vec::new(), Vec::new()),
    };
    chart.markup()
}

/// Where the values of the axis along which lines run are placed.
struct SweepAxisScale {
    name: String,
    axis: usize,
    is_load: bool,
    /// Each value with its place.
    values: Vec<(AxisValue, f64)>,
    /// The loads of the points.
    loads: Vec<f64>,
}

impl SweepAxisScale {
    fn of(sweep: &SweepPage<'_>) -> SweepAxisScale {
        let axis = along(sweep);
        let values = axis_values(sweep, axis);
        let is_number = values.iter().all(|value| value.number.is_some());
        let values = values.into_iter().enumerate().map(|(at, value)| {
            let place = value.number.filter(|_| is_number).unwrap_or(at as f64 + 1.0);
            (value, place)
        });
        let name = sweep.axes.get(axis).cloned().unwrap_or_default();
        let is_load =
            sweep.load_axis == Some(axis) && sweep.points.iter().all(|point| point.load > 0.0);
        let mut loads: Vec<f64> = sweep.points.iter().map(|point| point.load).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        SweepAxisScale { name, axis, is_load, values: values.collect(), loads }
    }

    fn place(&self, point: &SweptPoint) -> Option<f64> {
        let value = point.values.get(self.axis)?;
        if self.is_load {
            Some(point.load)
        } else {
            self.values.iter().find(|(known, _)| known == value).map(|known| known.1)
        }
    }

    fn axis(&self) -> PointAxis {
        let places = || self.values.iter().map(|value| value.1);
        let (low, high) = (places().fold(f64::MAX, f64::min), places().fold(0.0, f64::max));
        let is_log = self.is_load || low > 0.0 && high / low > 8.0;
        let labels = self.values.iter().map(|(value, place)| (*place, value.text.clone()));
        // The load is more than the depth where there are several jobs.
        let loads = self.loads.iter().map(|&load| (load, FigureUnit::Count.text(load)));
        let labels = if self.is_load { loads.collect() } else { labels.collect() };
        let name =
            if self.is_load { "I/Os in flight, all jobs".to_owned() } else { self.name.clone() };
        PointAxis { name, unit: FigureUnit::Count, is_log, labels }
    }
}
