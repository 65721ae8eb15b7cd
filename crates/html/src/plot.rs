//! A page of charts that are not of one run: logs, and figures of results.

use crate::PageRun;
use crate::charts::{columns, dots, heat, lines, percentiles};
use crate::figures::NamedLatency;
use crate::page::{PAGE_BYTES_MOST, assets_bytes, document};
use crate::run;
use crate::tested;
use iosonde_base::Dir;
use iosonde_report::LatencyReport;
use iosonde_report::finding::Severity;
use iosonde_report::series::RunSeries;
use maud::{Markup, html};

pub use columns::{Column, ColumnsChart};
pub use dots::DotsChart;
pub use lines::{ChartLine, LinePoint, LineStyle, LinesChart, MarkedRange};

/// Series of columns that differ to the eye in one chart.
pub const COLUMN_SERIES_MOST: usize = columns::SERIES_MOST;

/// A part of a page, in order.
pub enum PlotPart<'a> {
    /// How a study came out, on top of its page.
    Answer(StudyAnswer),
    /// What was tested: names and words.
    Tested(Vec<(&'static str, String)>),
    /// What the next parts are of, with sentences below.
    Heading {
        /// The heading.
        title: String,
        /// What is to know about it.
        words: Vec<String>,
    },
    /// Lines.
    Lines(LinesChart),
    /// I/Os one by one.
    Dots(DotsChart),
    /// Columns.
    Columns(ColumnsChart),
    /// A table.
    Table(PlotTable),
    /// Latency by percentile.
    Percentiles {
        /// A name for links, of letters, digits and hyphens.
        id: String,
        /// Names, and latencies with bins.
        latencies: Vec<(String, LineStyle, LatencyReport)>,
    },
    /// Latency over time.
    Heat {
        /// A name for links, of letters, digits and hyphens.
        id: String,
        /// What it shows.
        title: String,
        /// The windows.
        series: &'a RunSeries,
        /// The direction.
        dir: Dir,
    },
    /// All of a run's page.
    Run(PageRun<'a>),
}

/// How a study came out: a sentence, goals, what else is to be known.
#[derive(Clone, Debug, Default)]
pub struct StudyAnswer {
    /// The sentence.
    pub sentence: String,
    /// It failed, was stopped, or its figures are not of what was to be measured.
    pub is_bad: bool,
    /// The goals.
    pub goals: Vec<StudyGoal>,
    /// Sentences below.
    pub lines: Vec<String>,
    /// The severity of each finding and its words, the worst first.
    pub findings: Vec<(Severity, String)>,
}

/// A goal, and whether it is met.
#[derive(Clone, Debug)]
pub struct StudyGoal {
    /// What was measured, and the goal.
    pub words: String,
    /// `PASS`, `FAIL`, or why there is neither.
    pub outcome: String,
    /// It is met, by figures that count.
    pub is_met: bool,
}

/// A table with bars behind its numbers.
pub struct PlotTable {
    /// What its columns are.
    pub heads: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<PlotCell>>,
}

/// A cell of a table.
pub struct PlotCell {
    /// Its words.
    pub words: String,
    /// The length of its bar, from 0 to 1; none where there is no number.
    pub share: Option<f64>,
}

impl PlotCell {
    /// A cell without a bar.
    pub fn plain(words: impl Into<String>) -> PlotCell {
        PlotCell { words: words.into(), share: None }
    }
}

/// Rows of a table at most.
const ROWS_MOST: usize = 400;
/// Room for what names the parts that are left out.
const TAIL_BYTES: usize = 8 << 10;

/// The page of some parts. Those that would make it larger than
/// [`PAGE_BYTES_MOST`] are left out, and the page says so.
pub fn plot_page(title: &str, parts: &[PlotPart<'_>]) -> String {
    let mut room = PAGE_BYTES_MOST.saturating_sub(assets_bytes() + TAIL_BYTES + title.len());
    let mut shown: Vec<Markup> = Vec::new();
    let mut left_out = 0usize;
    for (number, part) in parts.iter().enumerate() {
        match markup(part, number, room) {
            Some(markup) if markup.0.len() <= room => {
                room -= markup.0.len();
                shown.push(markup);
            }
            _ => left_out += 1,
        }
    }
    let body = html! {
        main {
            header { h1 { (title) } }
            @for part in &shown { (part) }
            @if left_out > 0 {
                p.note {
                    (left_out) " charts or tables are left out, as the page would be larger than 500 KiB: plot fewer "
                    "files at once."
                }
            }
            p.note { "Made by iosonde. The page works offline and without JavaScript." }
        }
    };
    document(title, &body).into_string()
}

/// A part; nothing for a chart without a figure, `None` where there is no room.
fn markup(part: &PlotPart<'_>, number: usize, room: usize) -> Option<Markup> {
    let drawn = match part {
        PlotPart::Answer(study) => Some(answer(study)),
        PlotPart::Tested(rows) => Some(tested::table(rows, None)),
        PlotPart::Heading { title, words } => Some(html! {
            h2 { (title) }
            @for sentence in words { p.note { (sentence) } }
        }),
        PlotPart::Lines(chart) => lines::chart(chart),
        PlotPart::Dots(chart) => dots::chart(chart),
        PlotPart::Columns(chart) => columns::chart(chart),
        PlotPart::Table(content) => Some(table(content)),
        PlotPart::Percentiles { id, latencies } => {
            let named = |(name, style, latency): &(String, LineStyle, LatencyReport)| {
                NamedLatency { name: name.clone(), class: style.class(), latency: latency.clone() }
            };
            percentiles::chart(id, &latencies.iter().map(named).collect::<Vec<_>>())
        }
        PlotPart::Heat { id, title, series, dir } => {
            heat::named_chart(id, title, series, heat::HeatOf::Dir(*dir))
        }
        PlotPart::Run(run) => return run::part(run, number, room),
    };
    Some(drawn.unwrap_or_default())
}

fn answer(study: &StudyAnswer) -> Markup {
    html! {
        section class={ "answer" @if study.is_bad { " failed" } } {
            @if study.goals.is_empty() { p.conclusion { (study.sentence) } }
            @for goal in &study.goals {
                p class={ "goal " @if goal.is_met { "good" } @else { "wrong" } } {
                    (goal.words) ": " strong { (goal.outcome) }
                }
            }
            @for line in &study.lines { p { (line) } }
            @for (severity, words) in &study.findings {
                p class={ "finding-line " (severity.word()) } { strong { (severity.word()) } " " (words) }
            }
        }
    }
}

fn table(table: &PlotTable) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table.sortable {
                thead { tr { @for head in &table.heads { th scope="col" { (head) } } } }
                tbody { @for row in table.rows.iter().take(ROWS_MOST) {
                    tr { @for cell in row { td {
                        (cell.words)
                        @if let Some(share) = cell.share { (bar(share)) }
                    } } }
                } }
            }
        }
        @if table.rows.len() > ROWS_MOST {
            p.note { "The first " (ROWS_MOST) " of " (table.rows.len()) " rows; --csv writes all." }
        }
    }
}

/// A bar below a number.
fn bar(share: f64) -> Markup {
    let width = format!("{:.1}", 60.0 * share.clamp(0.0, 1.0));
    html! {
        svg.bar viewBox="0 0 60 5" aria-hidden="true" { rect.level width=(width) height="5" {} }
    }
}
