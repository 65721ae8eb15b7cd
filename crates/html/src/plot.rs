//! A page of charts that are not of one run: logs, and figures of results.

use crate::charts::{columns, dots, heat, lines, percentiles};
use crate::figures::NamedLatency;
use crate::overlay;
use crate::page::{PAGE_BYTES_MOST, PagePart, assets_bytes, document, in_columns};
use crate::run;
use crate::study::StudyAnswer;
use crate::tested;
use crate::{PageRun, RunNumber};
use iosonde_base::Dir;
use iosonde_report::LatencyReport;
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
    /// Several runs: a row for each, and their charts over one another.
    Overview(Vec<PageRun<'a>>),
    /// The findings of several runs whose figures are shown together; nothing where there is
    /// none.
    Findings(Vec<PageRun<'a>>),
    /// All of a run's page.
    Run(PageRun<'a>),
}

impl PlotPart<'_> {
    fn is_chart(&self) -> bool {
        match self {
            PlotPart::Lines(_)
            | PlotPart::Dots(_)
            | PlotPart::Columns(_)
            | PlotPart::Percentiles { .. }
            | PlotPart::Heat { .. } => true,
            PlotPart::Answer(_)
            | PlotPart::Tested(_)
            | PlotPart::Heading { .. }
            | PlotPart::Table(_)
            | PlotPart::Overview(_)
            | PlotPart::Findings(_)
            | PlotPart::Run(_) => false,
        }
    }
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
    let mut shown: Vec<PagePart> = Vec::new();
    let mut left_out = 0usize;
    let is_run = |part: &PlotPart| matches!(part, PlotPart::Run(_));
    let is_alone = parts.iter().filter(|part| is_run(part)).count() == 1;
    let mut at = 0;
    for part in parts {
        let drawn = markup(part, RunNumber { at, is_alone }, room);
        at += usize::from(is_run(part));
        match drawn {
            Some(markup) if markup.0.len() <= room => {
                room -= markup.0.len();
                shown.push(PagePart { is_chart: part.is_chart(), markup });
            }
            _ => left_out += 1,
        }
    }
    let body = html! {
        main {
            header { h1 { (title) } }
            (in_columns(&shown))
            @if left_out > 0 {
                p.note {
                    (left_out) " charts or tables are left out, as the page would be larger than 500 KiB: plot fewer "
                    "files at once."
                }
            }
            // A page of one run says so below it.
            @if !is_alone { p.note { "Made by iosonde. The page works offline and without JavaScript." } }
        }
    };
    document(title, &body).into_string()
}

/// A part; nothing for a chart without a figure, `None` where there is no room.
fn markup(part: &PlotPart<'_>, number: RunNumber, room: usize) -> Option<Markup> {
    let drawn = match part {
        PlotPart::Answer(study) => Some(study.markup()),
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
        PlotPart::Overview(runs) => Some(overlay::section(runs)),
        PlotPart::Findings(runs) => overlay::findings(runs),
        PlotPart::Run(run) => return run::part(run, number, room),
    };
    Some(drawn.unwrap_or_default())
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
