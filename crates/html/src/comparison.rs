//! The page of a comparison: whether B differs from A, first in words, then in
//! charts, then everything that both ran on.

use crate::charts::heat::HeatOf;
use crate::charts::{forest, heat, overlaid, percentiles, run_order};
use crate::compared::{ComparedFigure, RunPlace};
use crate::figures::{NamedLatency, latencies, merged, series};
use crate::page::PageParts;
use crate::study::{self, StudyAnswer};
use crate::tables;
use iosonde_base::DIRS;
use iosonde_report::series::{RunSeries, SeriesWindow};
use iosonde_report::{JobReport, LatencyReport, Report};
use maud::{Markup, html};

/// A comparison, ready to be shown.
#[derive(Debug, Default)]
pub struct ComparisonPage<'a> {
    /// A, then B.
    pub sides: [ComparedSide<'a>; 2],
    /// How the results came about.
    pub design: String,
    /// How it came out: first of the deciding figure.
    pub answer: StudyAnswer,
    /// What the ratios are of: `B/A in pairs`.
    pub ratio_name: &'static str,
    /// The difference that matters: 0.05 is 5 %.
    pub margin: f64,
    /// The figures, the deciding one first.
    pub figures: Vec<ComparedFigure>,
    /// Findings that are more than notes, with how many runs of A and of B have each: `3 of 5`.
    pub findings: Vec<(String, [String; 2])>,
    /// The figures of each job, if there are several.
    pub jobs: Vec<ComparedJob>,
    /// The runs in the order in which they were made; empty where it is not
    /// known.
    pub order: Vec<RunPlace>,
    /// Parts of both that are the same, as far as is known.
    pub same: Vec<String>,
    /// What differs besides the figures.
    pub differences: Vec<PartRow>,
    /// Parts that a result does not describe.
    pub unknown: Vec<String>,
    /// The command that does it again.
    pub command: String,
    /// The comparison as JSON, to be downloaded from the page.
    pub json: Option<String>,
}

/// One side.
#[derive(Debug, Default)]
pub struct ComparedSide<'a> {
    /// In words.
    pub name: String,
    /// Its results.
    pub reports: Vec<&'a Report>,
    /// Where they came from.
    pub files: Vec<String>,
}

/// The figures of one job.
#[derive(Clone, Debug, Default)]
pub struct ComparedJob {
    /// The job's name.
    pub name: String,
    /// Why it has no figures, if it has none.
    pub note: Option<String>,
    /// Its figures.
    pub figures: Vec<ComparedFigure>,
}

/// Something that is not the same in A and in B.
#[derive(Clone, Debug, Default)]
pub struct PartRow {
    /// Of which part: `kernel`.
    pub part: String,
    /// What.
    pub what: String,
    /// As A has it, and B.
    pub values: [String; 2],
    /// It is meant to differ.
    pub is_meant: bool,
}

/// Figures with a chart of their runs.
const ORDERS_MOST: usize = 3;
/// Rows of the table of jobs at most.
const JOB_ROWS_MOST: usize = 400;
/// Files that are named at most.
const FILES_MOST: usize = 100;

/// The page of a comparison.
pub fn comparison_page(comparison: &ComparisonPage<'_>) -> String {
    let mut parts = PageParts::new();
    parts.add("the conclusion", headline(comparison));
    parts.add_chart("the forest plot", forest::chart(&comparison.figures, comparison.margin));
    parts.add("the table of figures", figures_table(comparison));
    for (number, figure) in comparison.figures.iter().take(ORDERS_MOST).enumerate() {
        let chart = run_order::chart(number, figure, &comparison.order);
        parts.add_chart("a chart of the runs in order", chart);
    }
    parts.add_chart("the rate over time", rates(comparison));
    for (kind, latencies) in overlaid_latencies(comparison) {
        let title = format!("Latency by percentile: {kind}, A and B");
        let id = format!("percentiles-{}", kind.split(',').next().unwrap_or_default());
        let id = if kind.contains(',') { format!("{id}-due") } else { id };
        let chart = percentiles::titled(&id, &title, &latencies);
        parts.add_chart("latency by percentile", chart);
    }
    for of in DIRS.map(HeatOf::Dir).into_iter().chain([HeatOf::Syncs]) {
        parts.add_chart("latency over time", heat_maps(comparison, of));
    }
    parts.add("the figures of each job", jobs_table(comparison));
    parts.add("what was tested", tested(comparison));
    parts.add("what differs", likeness(comparison));
    parts.add("the settings", settings(comparison));
    parts.add("about", about(comparison));
    let [a, b] = &comparison.sides;
    parts.finish(&format!("iosonde compare: {} against {}", b.name, a.name))
}

fn headline(comparison: &ComparisonPage<'_>) -> Markup {
    let [a, b] = &comparison.sides;
    html! {
        header {
            h1 { "Comparison of A and B" }
            p.what { strong { "A" } " " (a.name) }
            p.what { strong { "B" } " " (b.name) }
            p.when { (comparison.design) }
        }
        (comparison.answer.markup())
    }
}

fn figures_table(comparison: &ComparisonPage<'_>) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="All figures" {
            table.sortable {
                thead { tr { @for head in ["figure", "A", "B", comparison.ratio_name, "interval", "result"] {
                    th scope="col" { (head) }
                } } }
                tbody { @for figure in &comparison.figures { (figure_row(&figure.label, figure)) } }
                @if !comparison.findings.is_empty() {
                    tfoot { @for (id, runs) in &comparison.findings {
                        tr {
                            th scope="row" { "runs with " (id) }
                            @for cell in runs { td { (cell) } }
                            td colspan="3" {}
                        }
                    } }
                }
            }
        }
    }
}

fn figure_row(name: &str, figure: &ComparedFigure) -> Markup {
    html! {
        tr {
            th scope="row" { (name) }
            @for value in &figure.values { td { (value) } }
            td { (figure.change) }
            td { (figure.interval_text) }
            td { (figure.words) }
        }
    }
}

fn rates(comparison: &ComparisonPage<'_>) -> Option<Markup> {
    let all = [0, 1].map(|side: usize| {
        comparison.sides[side]
            .reports
            .iter()
            .filter_map(|report| series(report))
            .collect::<Vec<_>>()
    });
    overlaid::chart([&all[0], &all[1]])
}

/// Latencies of both sides by kind: each direction, response, syncs.
fn overlaid_latencies(comparison: &ComparisonPage<'_>) -> Vec<(String, Vec<NamedLatency>)> {
    let sides = [0, 1].map(|side: usize| {
        let mut kinds: Vec<(String, Vec<LatencyReport>)> = Vec::new();
        for report in &comparison.sides[side].reports {
            let jobs: Vec<&JobReport> = report.jobs.iter().collect();
            for one in latencies(report, &jobs) {
                match kinds.iter_mut().find(|(name, _)| *name == one.name) {
                    Some((_, all)) => all.push(one.latency),
                    None => kinds.push((one.name, vec![one.latency])),
                }
            }
        }
        kinds
    });
    let [a, b] = &sides;
    let of_side = |(letter, class): (&str, &'static str), all: &[LatencyReport]| {
        let all: Vec<&LatencyReport> = all.iter().collect();
        NamedLatency { name: letter.to_owned(), class, latency: merged(&all) }
    };
    a.iter()
        .filter_map(|(kind, all)| {
            let (_, others) = b.iter().find(|(other, _)| other == kind)?;
            Some((kind.clone(), vec![of_side(("A", "a"), all), of_side(("B", "b"), others)]))
        })
        .collect()
}

fn heat_maps(comparison: &ComparisonPage<'_>, of: HeatOf) -> Option<Markup> {
    let [a, b] = [0, 1].map(|side: usize| summed(&comparison.sides[side].reports));
    let (a, b) = (a?, b?);
    (a.interval_ns == b.interval_ns).then(|| heat::beside([&a, &b], of))?
}

/// The series of a side's runs as one, window by window; `None` where a run has
/// none or windows of another length.
fn summed(reports: &[&Report]) -> Option<RunSeries> {
    let mut sum: Option<RunSeries> = None;
    for report in reports {
        let one = series(report)?;
        let sum = sum.get_or_insert_with(|| RunSeries {
            interval_ns: one.interval_ns,
            ..RunSeries::default()
        });
        sum.latency_max_ns = sum.latency_max_ns.max(one.latency_max_ns);
        sum.sync_max_ns = sum.sync_max_ns.max(one.sync_max_ns);
        if sum.interval_ns != one.interval_ns {
            return None;
        }
        let length = sum.windows.len().max(one.windows.len());
        sum.windows.resize(length, SeriesWindow { sampled: true, ..SeriesWindow::default() });
        for (sum, window) in sum.windows.iter_mut().zip(&one.windows) {
            DIRS.into_iter().for_each(|dir| sum.dirs[dir].merge(&window.dirs[dir]));
            sum.syncs.merge(&window.syncs);
        }
    }
    sum
}

fn jobs_table(comparison: &ComparisonPage<'_>) -> Markup {
    if comparison.jobs.is_empty() {
        return Markup::default();
    }
    let rows =
        comparison.jobs.iter().flat_map(|job| job.figures.iter().map(move |figure| (job, figure)));
    let count = rows.clone().count();
    html! {
        h2 { "Jobs" }
        p.finding { "Jobs are matched by their names. Each row is judged by itself." }
        @for job in &comparison.jobs {
            @if let Some(note) = &job.note { p.note { (job.name) ": " (note) } }
        }
        div.scroll tabindex="0" role="group" aria-label="Figures of each job" {
            table.sortable {
                thead { tr { @for head in ["job", "A", "B", comparison.ratio_name, "interval", "result"] {
                    th scope="col" { (head) }
                } } }
                tbody { @for (job, figure) in rows.take(JOB_ROWS_MOST) {
                    (figure_row(&format!("{} {}", job.name, figure.label), figure))
                } }
            }
        }
        @if count > JOB_ROWS_MOST {
            p.note { "The first " (JOB_ROWS_MOST) " of " (count) " rows; --format=json has all." }
        }
    }
}

/// What is the same and what is not, part by part.
fn likeness(comparison: &ComparisonPage<'_>) -> Markup {
    html! {
        h2 { "What A and B ran on" }
        @if !comparison.same.is_empty() { p { "The same: " (comparison.same.join(", ")) "." } }
        @if !comparison.unknown.is_empty() {
            p { "Not known to be the same, as a result does not describe it: "
                (comparison.unknown.join(", ")) "." }
        }
        @if !comparison.differences.is_empty() {
            div.scroll tabindex="0" role="group" aria-label="What differs" {
                table {
                    thead { tr { @for head in ["part", "what", "A", "B", ""] { th.words scope="col" { (head) } } } }
                    tbody { @for one in &comparison.differences {
                        tr {
                            th scope="row" { (one.part) }
                            td.words { (one.what) }
                            @for value in &one.values { td.words { (value) } }
                            td { @if one.is_meant { "intended" } @else { "not intended" } }
                        }
                    } }
                }
            }
        }
    }
}

fn tested(comparison: &ComparisonPage<'_>) -> Markup {
    let report = comparison.sides[0].reports.first().copied();
    study::tested(report, &comparison.command, "Of the first run of A; what B differs in is below.")
}

fn settings(comparison: &ComparisonPage<'_>) -> Markup {
    html! {
        @for (letter, side) in ["A", "B"].into_iter().zip(&comparison.sides) {
            @if let Some(report) = side.reports.first() {
                h2 { "Settings and system of " (letter) }
                @if side.reports.len() > 1 { p.note { "Of its first run." } }
                (tables::system(report))
                (tables::settings(report))
            }
        }
    }
}

fn about(comparison: &ComparisonPage<'_>) -> Markup {
    let download = comparison.json.as_deref().and_then(crate::run::download);
    html! {
        h2 { "About this page" }
        @for (letter, side) in ["A", "B"].into_iter().zip(&comparison.sides) {
            details {
                summary { "Results of " (letter) " (" (side.files.len()) ")" }
                p.note { (side.files.iter().take(FILES_MOST).cloned().collect::<Vec<_>>().join(", "))
                    @if side.files.len() > FILES_MOST { " and " (side.files.len() - FILES_MOST) " more" } }
            }
        }
        p {
            "Made by iosonde. The page works offline and without JavaScript."
            @if let Some(uri) = download {
                " " a download="compare.json.gz" href=(uri) { "The comparison as JSON (gzip)" } "."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Dir;

    #[test]
    fn series_of_a_side_are_added_up_window_by_window() {
        let report = |bytes: &[u64], interval_ns| {
            let mut report = Report::default();
            let window = |&bytes: &u64| {
                let mut window = SeriesWindow { sampled: true, ..SeriesWindow::default() };
                window.dirs[Dir::Read].bytes = bytes;
                window
            };
            let windows = bytes.iter().map(window).collect();
            let series = RunSeries { interval_ns, windows, ..RunSeries::default() };
            let ledger = iosonde_report::ledger::Ledger { series, ..Default::default() };
            report.ours.ledger = Some(Box::new(ledger));
            report
        };
        let (one, other) = (report(&[1, 2], 5), report(&[10, 20, 30], 5));
        assert_eq!(summed(&[&one, &other]).unwrap().bytes(), [11, 22, 30]);
        assert!(summed(&[&one, &report(&[1], 7)]).is_none());
        assert!(summed(&[&one, &Report::default()]).is_none());
    }
}
