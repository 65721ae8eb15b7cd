//! What the runs of a sweep show: figures of each point, and the knee.

use super::grid::{GridPoint, number};
use super::runs::{PointRun, SweepPoint};
use crate::trials::figures::{Figure, FigureLane, Measure, percentile};
use iosonde_judge::{Knee, LoadPoint, NoKnee, PacedPoint, knee, median, paced_knee};
use iosonde_report::Report;
use iosonde_report::finding::Severity;

/// A figure of a point over its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct PointFigure {
    /// Which.
    pub figure: Figure,
    /// The median of the runs; of a percentile, that of all I/Os together where
    /// the runs have bins.
    pub value: f64,
    /// The lowest and the highest of the runs.
    pub range: (f64, f64),
}

/// A point with its figures.
#[derive(Clone, Debug)]
pub struct PointResult {
    /// The options, name and value.
    pub settings: Vec<(String, String)>,
    /// I/Os in flight together.
    pub load: f64,
    /// Files of its results.
    pub files: Vec<String>,
    /// Its figures.
    pub figures: Vec<PointFigure>,
    /// Findings that are more than a note, by their ids.
    pub findings: Vec<String>,
    /// Why it has not all of its runs, if it failed.
    pub failure: Option<String>,
}

impl PointResult {
    /// `iodepth=8 bs=4k`.
    pub fn text(&self) -> String {
        let words: Vec<String> =
            self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        words.join(" ")
    }

    /// A figure of it.
    pub fn figure(&self, key: &str) -> Option<&PointFigure> {
        self.figures.iter().find(|one| one.figure.key() == key)
    }
}

/// A knee, and the values of the other axes that it is at.
#[derive(Clone, Debug)]
pub struct FoundKnee {
    /// `bs=4k`; empty where there is one axis.
    pub at: String,
    /// What was found.
    pub kind: KneeKind,
}

/// Of which kind of axis.
#[derive(Clone, Debug)]
pub enum KneeKind {
    /// Of a depth or a number of jobs.
    Load(Result<Knee, NoKnee>),
    /// Of a rate: the highest that was kept, in I/Os a second.
    Paced(Option<f64>),
}

/// The results of a sweep.
#[derive(Clone, Debug)]
pub struct SweepResults {
    /// The options of the axes.
    pub axes: Vec<String>,
    /// The only axis that is a load.
    pub load_axis: Option<usize>,
    /// The points, in the order of the axes.
    pub points: Vec<PointResult>,
    /// Knees, where an axis is a load.
    pub knees: Vec<FoundKnee>,
    /// Rounds that all points have.
    pub rounds: usize,
}

/// Options that put more I/Os in flight.
const LOADS: [&str; 2] = ["iodepth", "numjobs"];
/// Options that ask for a rate.
const RATES: [&str; 1] = ["rate_iops"];

/// The only axis of a grid that puts more I/Os in flight.
pub fn load_axis(grid: &GridPoint) -> Option<usize> {
    let mut loads =
        grid.settings.iter().enumerate().filter(|(_, one)| LOADS.contains(&one.name.as_str()));
    let (axis, _) = loads.next()?;
    loads.next().is_none().then_some(axis)
}

impl SweepResults {
    /// Of the runs that have ended.
    pub fn of(points: &[SweepPoint], seed: u64) -> SweepResults {
        let axes =
            points.first().map(|point| point.grid.settings.iter().map(|one| one.axis()).collect());
        let axes: Vec<String> = axes.unwrap_or_default();
        let ran = points.iter().filter(|point| point.failure.is_none());
        let rounds = ran.map(|point| point.runs.iter().flatten().count()).min();
        let mut results: Vec<PointResult> = points.iter().map(point_result).collect();
        let knees = knees(points, &axes, seed);
        let load_axis = points.first().and_then(|point| load_axis(&point.grid));
        if let Some(axis) = load_axis {
            in_order(&mut results, axis);
        }
        SweepResults { axes, load_axis, points: results, knees, rounds: rounds.unwrap_or(0) }
    }
}

/// Points that were added to an axis stand among the others, by their values.
fn in_order(points: &mut [PointResult], axis: usize) {
    let value = |point: &PointResult| number(&point.settings[axis].1);
    if points.iter().any(|point| value(point).is_none()) {
        return;
    }
    let ranks: Vec<Vec<String>> = (0..points.first().map_or(0, |point| point.settings.len()))
        .map(|at| points.iter().map(|point| point.settings[at].1.clone()).collect())
        .collect();
    let rank = |point: &PointResult, at: usize| {
        if at == axis {
            value(point).unwrap_or(0.0)
        } else {
            let place = ranks[at].iter().position(|known| *known == point.settings[at].1);
            place.unwrap_or(0) as f64
        }
    };
    iosonde_base::sort_by(points, |a, b| {
        let orders = (0..ranks.len()).map(|at| rank(a, at).total_cmp(&rank(b, at)));
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
}

fn reports(point: &SweepPoint) -> Vec<&Report> {
    point.runs.iter().flatten().map(|run: &PointRun| &run.result.report).collect()
}

fn point_result(point: &SweepPoint) -> PointResult {
    let reports = reports(point);
    let settings = point.grid.settings.iter();
    let mut findings: Vec<String> = Vec::new();
    for report in &reports {
        let ledger = report.ours.ledger.as_ref();
        for finding in ledger.into_iter().flat_map(|ledger| &ledger.verdict) {
            if finding.severity > Severity::Note && !findings.contains(&finding.id.to_string()) {
                findings.push(finding.id.to_string());
            }
        }
    }
    PointResult {
        settings: settings.map(|one| (one.axis(), one.value.clone().unwrap_or_default())).collect(),
        load: point.load,
        files: point.runs.iter().flatten().map(|run| run.file.clone()).collect(),
        figures: figures(&reports),
        findings,
        failure: point.failure.clone(),
    }
}

/// The figures that all runs of a point have.
fn figures(reports: &[&Report]) -> Vec<PointFigure> {
    let Some(first) = reports.first() else { return Vec::new() };
    let mut all = Vec::new();
    for figure in Figure::of(first) {
        let values: Vec<f64> = reports.iter().filter_map(|report| figure.value(report)).collect();
        if values.len() < reports.len() {
            continue;
        }
        let low = values.iter().copied().fold(f64::MAX, f64::min);
        let high = values.iter().copied().fold(0.0, f64::max);
        let value = merged(&figure, reports).unwrap_or_else(|| median(&values));
        all.push(PointFigure { figure, value, range: (low, high) });
    }
    all
}

/// A percentile over the I/Os of all runs.
fn merged(figure: &Figure, reports: &[&Report]) -> Option<f64> {
    let mut latencies = Vec::new();
    let mut percent = 0.0;
    for report in reports {
        let (of, asked) = figure.latencies(report)?;
        latencies.extend(of);
        percent = asked;
    }
    percentile(&latencies, percent)
}

/// I/Os a second, all directions.
fn iops(report: &Report) -> f64 {
    let lanes = FigureLane::used(report).into_iter();
    let values =
        lanes.filter_map(|lane| Figure { lane: Some(lane), measure: Measure::Iops }.value(report));
    values.sum()
}

/// The knees along the axis of a load or a rate, for each combination of the
/// others.
fn knees(points: &[SweepPoint], axes: &[String], seed: u64) -> Vec<FoundKnee> {
    let is = |names: &[&str], axis: &String| {
        names.iter().any(|name| axis.rsplit(':').next() == Some(name))
    };
    let loads: Vec<&String> = axes.iter().filter(|axis| is(&LOADS, axis)).collect();
    let rates: Vec<&String> = axes.iter().filter(|axis| is(&RATES, axis)).collect();
    let along = if loads.is_empty() { &rates } else { &loads };
    if along.is_empty() {
        return Vec::new();
    }
    let mut groups: Vec<(String, Vec<&SweepPoint>)> = Vec::new();
    for point in points {
        let others = point.grid.settings.iter().filter(|one| !along.contains(&&one.axis()));
        let at: Vec<String> = others.map(|one| one.text()).collect();
        let at = at.join(" ");
        match groups.iter_mut().find(|(known, _)| *known == at) {
            Some((_, group)) => group.push(point),
            None => groups.push((at, vec![point])),
        }
    }
    let found = groups.into_iter().map(|(at, group)| {
        let kind = if loads.is_empty() {
            KneeKind::Paced(paced(&group))
        } else {
            KneeKind::Load(load(&group, seed))
        };
        FoundKnee { at, kind }
    });
    found.collect()
}

fn load(group: &[&SweepPoint], seed: u64) -> Result<Knee, NoKnee> {
    let points: Vec<LoadPoint> = group
        .iter()
        .map(|point| LoadPoint {
            load: point.load,
            rates: reports(point).into_iter().map(iops).collect(),
        })
        .collect();
    knee(&points, seed)
}

fn paced(group: &[&SweepPoint]) -> Option<f64> {
    let points: Vec<PacedPoint> = group
        .iter()
        .filter_map(|point| {
            let reports = reports(point);
            let rates: Vec<f64> = reports.iter().map(|report| iops(report)).collect();
            let setting =
                point.grid.settings.iter().find(|one| RATES.contains(&one.name.as_str()))?;
            let each = number(setting.value.as_deref()?)?;
            let lanes = reports.first().map_or(1, |report| FigureLane::used(report).len().max(1));
            let p99 = figures(&reports).into_iter().filter(
                |one| matches!(one.figure.measure, Measure::Response(percent) if percent == 99.0),
            );
            Some(PacedPoint {
                // Of each job and each direction.
                requested: each * point.jobs as f64 * lanes as f64,
                completed: median(&rates),
                p99_ns: p99.map(|one| one.value).max_by(f64::total_cmp)?,
            })
        })
        .collect();
    paced_knee(&points)
}
