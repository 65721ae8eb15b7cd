//! The page of a sweep: figures against what was varied, and the knee.

mod curves;
mod maps;

use crate::page::PageParts;
use crate::study::{self, StudyAnswer};
use crate::tables;
use crate::unit::FigureUnit;
use iosonde_report::Report;
use maud::{Markup, html};

/// A sweep, ready to be shown.
#[derive(Debug, Default)]
pub struct SweepPage<'a> {
    /// The jobs in words.
    pub jobs: String,
    /// How the points were run.
    pub design: String,
    /// The options that were varied.
    pub axes: Vec<String>,
    /// The axis that puts more I/Os in flight, if there is one.
    pub load_axis: Option<usize>,
    /// The points that have results.
    pub points: Vec<SweptPoint>,
    /// The knees, each with the values of the other axes.
    pub knees: Vec<SweptKnee>,
    /// How it came out.
    pub answer: StudyAnswer,
    /// Points that failed or were not run: which, and why.
    pub missing: Vec<(String, String)>,
    /// A result, for the settings and the system.
    pub result: Option<&'a Report>,
    /// The command that does it again.
    pub command: String,
    /// The sweep as JSON, to be downloaded from the page.
    pub json: Option<String>,
}

/// A value of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AxisValue {
    /// As typed.
    pub text: String,
    /// As a number, if it is one.
    pub number: Option<f64>,
}

/// One point.
#[derive(Clone, Debug, Default)]
pub struct SweptPoint {
    /// Its value of each axis.
    pub values: Vec<AxisValue>,
    /// I/Os in flight together.
    pub load: f64,
    /// Its runs.
    pub runs: usize,
    /// Its figures.
    pub figures: Vec<SweptFigure>,
    /// Findings that are more than a note, by their ids.
    pub findings: Vec<String>,
}

/// Kinds of figures of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SweptKind {
    /// I/Os a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
    /// A percentile of the latency.
    Latency(f64),
    /// A percentile of the time since an I/O was due.
    Response(f64),
    /// Another one: in the table only.
    Other,
}

/// A figure of a point over its runs.
#[derive(Clone, Debug)]
pub struct SweptFigure {
    /// The direction; empty for a figure of the whole run.
    pub lane: String,
    /// What it is.
    pub kind: SweptKind,
    /// Its name.
    pub label: String,
    /// Of its values.
    pub unit: FigureUnit,
    /// The median of the runs, or the percentile of all I/Os together.
    pub value: f64,
    /// The lowest and the highest of the runs.
    pub range: (f64, f64),
}

/// A knee.
#[derive(Clone, Debug, Default)]
pub struct SweptKnee {
    /// In words, or why it is missing.
    pub words: String,
    /// The values of the other axes.
    pub at: String,
    /// Where it is, if there is one.
    pub place: Option<KneePlace>,
}

/// Where a knee is, and the bounds that meet there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KneePlace {
    /// I/Os in flight.
    pub load: f64,
    /// The interval of it.
    pub interval: Option<(f64, f64)>,
    /// The largest rate, in I/Os a second.
    pub iops_most: f64,
    /// The least time of an I/O, in nanoseconds.
    pub ns_least: f64,
}

/// Lines of a chart at most: there are no more markers.
const LINES_MOST: usize = 8;
/// Combinations of further axes with maps of their own at most.
const MAPS_MOST: usize = 6;
/// Rows of the table at most.
const ROWS_MOST: usize = 500;
/// Missing points that are listed at most.
const MISSING_MOST: usize = 200;

/// The page of a sweep.
pub fn sweep_page(sweep: &SweepPage<'_>) -> String {
    let mut parts = PageParts::new();
    parts.add("the conclusion", headline(sweep));
    for lane in lanes(sweep) {
        let groups = curves::groups(sweep);
        parts.add_chart(
            "latency against throughput",
            curves::against_throughput(sweep, &lane, &groups),
        );
        parts.add_chart("throughput", curves::throughput(sweep, &lane, &groups));
        parts.add_chart("latency", curves::latency(sweep, &lane, &groups));
        for map in maps::maps(sweep, &lane) {
            parts.add_chart("a heat map", Some(map));
        }
    }
    parts.add("the table of points", table(sweep));
    parts.add("points without results", missing(sweep));
    let note = "Of the first result; the options that were varied differ between the points.";
    parts.add("what was tested", study::tested(sweep.result, &sweep.command, note));
    parts.add("the settings", settings(sweep.result));
    parts.add("about", about(sweep.json.as_deref(), "sweep.json.gz"));
    parts.finish(&format!("iosonde sweep: {}", sweep.axes.join(", ")))
}

fn headline(sweep: &SweepPage<'_>) -> Markup {
    html! {
        header {
            h1 { "Sweep of " (sweep.axes.join(", ")) }
            p.what { (sweep.jobs) }
            p.when { (sweep.design) }
        }
        (sweep.answer.markup())
        @if !sweep.missing.is_empty() {
            p.finding-line.warning {
                "Points that failed or were not run: " (sweep.missing.len()) " ("
                a href="#missing" { "the reasons" } ")."
            }
        }
    }
}

/// The directions that have rates.
fn lanes(sweep: &SweepPage<'_>) -> Vec<String> {
    let mut lanes: Vec<String> = Vec::new();
    for figure in sweep.points.iter().flat_map(|point| &point.figures) {
        if figure.kind == SweptKind::Iops && !lanes.contains(&figure.lane) {
            lanes.push(figure.lane.clone());
        }
    }
    lanes
}

impl SweptPoint {
    fn figure(&self, lane: &str, kind: SweptKind) -> Option<&SweptFigure> {
        self.figures.iter().find(|one| one.lane == lane && one.kind == kind)
    }
}

/// The percentiles of a lane that charts show: of paced jobs since I/Os were
/// due.
fn percentiles(sweep: &SweepPage<'_>, lane: &str) -> Vec<SweptKind> {
    let has =
        |kind: &SweptKind| sweep.points.iter().any(|point| point.figure(lane, *kind).is_some());
    let all = [SweptKind::Latency(50.0), SweptKind::Latency(99.0), SweptKind::Response(99.0)];
    all.into_iter().filter(has).collect()
}

fn kind_name(kind: SweptKind) -> String {
    match kind {
        SweptKind::Latency(percent) => format!("p{percent}"),
        SweptKind::Response(percent) => format!("response p{percent}"),
        SweptKind::Iops => "IOPS".into(),
        SweptKind::Bandwidth => "bandwidth".into(),
        SweptKind::Other => String::new(),
    }
}
/// The values of an axis, in the order of the points.
fn axis_values(sweep: &SweepPage<'_>, axis: usize) -> Vec<AxisValue> {
    let mut values: Vec<AxisValue> = Vec::new();
    for value in sweep.points.iter().filter_map(|point| point.values.get(axis)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

/// The points with all their figures.
fn table(sweep: &SweepPage<'_>) -> Markup {
    let mut heads: Vec<(&str, SweptKind, &str)> = Vec::new();
    for figure in sweep.points.iter().flat_map(|point| &point.figures) {
        let head = (figure.lane.as_str(), figure.kind, figure.label.as_str());
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    html! {
        h2 { "All points" }
        div.scroll tabindex="0" role="group" aria-label="All points" {
            table.sortable {
                thead { tr {
                    @for axis in &sweep.axes { th scope="col" { (axis) } }
                    @if has_findings(sweep) { th.names scope="col" { "findings" } }
                    th scope="col" { "in flight" }
                    th scope="col" { "runs" }
                    @for (_, kind, label) in &heads {
                        th scope="col" { (label) }
                        @if *kind == SweptKind::Iops { th scope="col" { "low to high" } }
                    }
                } }
                tbody { @for point in sweep.points.iter().take(ROWS_MOST) {
                    (row(point, &heads, has_findings(sweep)))
                } }
            }
        }
        @if sweep.points.len() > ROWS_MOST {
            p.note { "The first " (ROWS_MOST) " of " (sweep.points.len()) " points; sweep.csv has all." }
        }
    }
}

fn has_findings(sweep: &SweepPage<'_>) -> bool {
    sweep.points.iter().any(|point| !point.findings.is_empty())
}

fn row(point: &SweptPoint, heads: &[(&str, SweptKind, &str)], has_findings: bool) -> Markup {
    let found = |head: &(&str, SweptKind, &str)| {
        point.figures.iter().find(|one| one.lane == head.0 && one.label == head.2)
    };
    html! {
        tr {
            @for value in &point.values { td { (value.text) } }
            @if has_findings { td.names { @for (at, id) in point.findings.iter().enumerate() { @if at > 0 { ", " } span { (id) } } } }
            td { @if point.load > 0.0 { (FigureUnit::Count.text(point.load)) } @else { "-" } }
            td { (point.runs) }
            @for head in heads {
                @let figure = found(head);
                td { (figure.map_or("-".to_owned(), |one| one.unit.text(one.value))) }
                @if head.1 == SweptKind::Iops {
                    td { (figure.map_or("-".to_owned(), |one| {
                        format!("{} to {}", one.unit.text(one.range.0), one.unit.text(one.range.1))
                    })) }
                }
            }
        }
    }
}

fn missing(sweep: &SweepPage<'_>) -> Markup {
    html! {
        @if !sweep.missing.is_empty() {
            h2 #missing { "Points that failed or were not run" }
            div.scroll tabindex="0" role="group" aria-label="Points without results" {
                table {
                    thead { tr { th scope="col" { "point" } th scope="col" { "why" } } }
                    tbody { @for (point, why) in sweep.missing.iter().take(MISSING_MOST) {
                        tr { th scope="row" { (point) } td.words { (why) } }
                    } }
                }
            }
            @if sweep.missing.len() > MISSING_MOST {
                p.note { "And " (sweep.missing.len() - MISSING_MOST) " more." }
            }
        }
    }
}

/// The settings and the system of a result.
pub(crate) fn settings(result: Option<&Report>) -> Markup {
    html! {
        @if let Some(report) = result {
            h2 { "Settings and system" }
            (tables::system(report))
            (tables::settings(report))
        }
    }
}

/// Where the page is from, and the document to be downloaded.
pub(crate) fn about(json: Option<&str>, file: &str) -> Markup {
    let download = json.and_then(crate::run::download);
    html! {
        h2 { "About this page" }
        p {
            "Made by iosonde. The page works offline and without JavaScript."
            @if let Some(uri) = download {
                " " a download=(file) href=(uri) { "The figures as JSON (gzip)" } "."
            }
        }
    }
}
