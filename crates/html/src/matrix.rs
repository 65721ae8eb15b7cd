//! The page of a matrix: what durability costs, by mode and block size.

use crate::charts::bars;
use crate::charts::grid::{GridCell, GridChart};
use crate::charts::points::{ChartPoint, PointAxis, PointChart, PointSeries};
use crate::page::PageParts;
use crate::study::StudyAnswer;
use crate::sweep::about;
use crate::tested;
use crate::unit::FigureUnit;
use iosonde_base::text::{rate, short_size};
use maud::{Markup, html};

/// A matrix, ready to be shown.
#[derive(Debug, Default)]
pub struct MatrixPage {
    /// What was measured.
    pub target: String,
    /// The figures in words, and caveats.
    pub answer: StudyAnswer,
    /// What was tested: names and words.
    pub tested: Vec<(&'static str, String)>,
    /// The block sizes in bytes: the columns.
    pub sizes: Vec<u64>,
    /// The rows.
    pub rows: Vec<MatrixRow>,
    /// The matrix as JSON, to be downloaded from the page.
    pub json: Option<String>,
}

/// A mode.
#[derive(Clone, Debug, Default)]
pub struct MatrixRow {
    /// Its name: `FSYNC + O_DIRECT`.
    pub name: String,
    /// The modes that share a chart, by what they have in common: `O_DIRECT`.
    pub path: &'static str,
    /// The mode without the path: `FSYNC`.
    pub mode: &'static str,
    /// It writes.
    pub is_write: bool,
    /// Its rate is that of memory.
    pub is_memory: bool,
    /// A cell for each block size.
    pub cells: Vec<MatrixCell>,
}

impl MatrixRow {
    fn label(&self) -> String {
        if self.is_memory { format!("{} (memory)", self.name) } else { self.name.clone() }
    }
}

/// A cell.
#[derive(Clone, Debug)]
pub enum MatrixCell {
    /// A rate.
    Rate {
        /// Bytes a second.
        bytes_per_s: f64,
        /// The interval of it.
        range: (f64, f64),
        /// Its number in MiB/s, with a mark if it has not settled.
        text: String,
        /// The best block size of its row.
        is_best_of_row: bool,
        /// The best of its block size.
        is_best_of_column: bool,
    },
    /// None, and why.
    None(String),
}

impl MatrixCell {
    fn rate(&self) -> Option<f64> {
        match self {
            MatrixCell::Rate { bytes_per_s, .. } => Some(*bytes_per_s),
            MatrixCell::None(_) => None,
        }
    }
}

/// The page of a matrix.
pub fn matrix_page(matrix: &MatrixPage) -> String {
    let mut parts = PageParts::new();
    parts.add("the conclusion", headline(matrix));
    parts.add_chart("the heat map", map(matrix));
    for chart in costs(matrix) {
        parts.add_chart("the costs of durability", chart);
    }
    for path in paths(matrix) {
        parts.add_chart("rate against block size", curves(matrix, path));
    }
    parts.add("the reasons", reasons(matrix));
    parts.add("what was tested", tested::table(&matrix.tested, None));
    parts.add("about", about(matrix.json.as_deref(), "matrix.json.gz"));
    parts.finish(&format!("iosonde matrix: {}", matrix.target))
}

fn headline(matrix: &MatrixPage) -> Markup {
    html! {
        header {
            h1 { "What durability costs, by block size" }
            p.what { (matrix.target) }
            p.when { "One block at a time, one after the other. The figures are medians." }
        }
        (matrix.answer.markup())
    }
}

fn map(matrix: &MatrixPage) -> Option<Markup> {
    let cell = |row: &MatrixRow, cell: &MatrixCell| match cell {
        MatrixCell::Rate { bytes_per_s, range, text, is_best_of_row, is_best_of_column } => {
            GridCell {
                value: Some(*bytes_per_s),
                text: text.clone(),
                detail: format!(
                    "{}: {} ({} .. {})",
                    row.name,
                    rate(*bytes_per_s),
                    rate(range.0),
                    rate(range.1)
                ),
                is_framed: *is_best_of_row,
                is_underlined: *is_best_of_column,
            }
        }
        MatrixCell::None(why) => GridCell {
            text: "-".into(),
            detail: format!("{}: {why}", row.name),
            ..GridCell::default()
        },
    };
    let cells: Vec<Vec<GridCell>> = matrix
        .rows
        .iter()
        .map(|row| row.cells.iter().map(|one| cell(row, one)).collect())
        .collect();
    let heads: Vec<String> = std::iter::once("mode".to_owned()).chain(sizes(matrix)).collect();
    let body = matrix.rows.iter().map(|row| {
        let words = row.cells.iter().map(|one| one.rate().map_or("-".to_owned(), rate));
        std::iter::once(row.name.clone()).chain(words).collect()
    });
    let chart = GridChart {
        id: "matrix",
        title: "MiB/s by mode and block size",
        finding: "Framed: the best block size of its mode. Underlined: the best durable write, or read from \
                  storage, of its block size. ~ has not settled within 5 %. A dash: not measured; the \
                  reasons are below."
            .to_owned(),
        column_name: "block size",
        columns: sizes(matrix),
        row_name: "mode",
        rows: matrix.rows.iter().map(MatrixRow::label).collect(),
        cells,
        unit: FigureUnit::BytesPerSecond,
        table: (heads.iter().map(String::as_str).collect(), body.collect()),
    };
    chart.markup()
}

fn sizes(matrix: &MatrixPage) -> Vec<String> {
    matrix.sizes.iter().map(|&size| short_size(size)).collect()
}

/// What rows have in common, in the order of the rows.
fn paths(matrix: &MatrixPage) -> Vec<&'static str> {
    let mut paths = Vec::new();
    for row in &matrix.rows {
        if !paths.contains(&row.path) {
            paths.push(row.path);
        }
    }
    paths
}

/// Each mode's rate against the block size, both logarithmic.
fn curves(matrix: &MatrixPage, path: &str) -> Option<Markup> {
    let line = |row: &MatrixRow| PointSeries {
        name: row.label(),
        points: matrix
            .sizes
            .iter()
            .zip(&row.cells)
            .filter_map(|(&size, cell)| match cell {
                MatrixCell::Rate { bytes_per_s, range, .. } => Some(ChartPoint {
                    x: size as f64,
                    y: *bytes_per_s,
                    range: Some(*range),
                    label: String::new(),
                }),
                MatrixCell::None(_) => None,
            })
            .collect(),
    };
    let series: Vec<PointSeries> =
        matrix.rows.iter().filter(|row| row.path == path).map(line).collect();
    let labels = matrix.sizes.iter().map(|&size| (size as f64, short_size(size))).collect();
    let chart = PointChart {
        id: &format!("curves-{}", path.to_ascii_lowercase().replace(' ', "-")),
        title: &format!("Rate against block size: {path}"),
        finding: "A line that rises as steeply as the block size pays a fixed price for each write; where it \
                  is level, the bandwidth is the limit. Both axes are logarithmic; upright lines are \
                  intervals of 95 %."
            .to_owned(),
        x: PointAxis { labels, ..PointAxis::new("block size", FigureUnit::Bytes, true) },
        y: PointAxis::new("rate", FigureUnit::BytesPerSecond, true),
        series: &series,
        marks: &[],
        table: (Vec::new(), Vec::new()),
    };
    chart.markup()
}

/// Bars of each mode's best path, at the smallest and the largest block size
/// that most modes have.
fn costs(matrix: &MatrixPage) -> Vec<Option<Markup>> {
    let last = matrix.sizes.len().saturating_sub(1);
    let columns = if last == 0 { vec![0] } else { vec![0, last] };
    let chart = |(number, column): (usize, usize)| {
        cost_chart(matrix, number, column, *matrix.sizes.get(column)?)
    };
    columns.into_iter().enumerate().map(chart).collect()
}

fn cost_chart(matrix: &MatrixPage, number: usize, column: usize, size: u64) -> Option<Markup> {
    let mut best: Vec<(&MatrixRow, f64)> = Vec::new();
    for row in matrix.rows.iter().filter(|row| row.is_write) {
        let Some(found) = row.cells.get(column).and_then(MatrixCell::rate) else { continue };
        match best
            .iter_mut()
            .find(|(known, _)| known.mode == row.mode && known.is_memory == row.is_memory)
        {
            Some((_, rate)) if *rate >= found => {}
            Some(known) => *known = (row, found),
            None => best.push((row, found)),
        }
    }
    iosonde_base::sort_by(&mut best, |a, b| a.1.total_cmp(&b.1));
    if best.len() < 2 {
        return None;
    }
    let bars: Vec<bars::NamedBar> = best
        .iter()
        .map(|(row, found)| bars::NamedBar {
            name: row.name.clone(),
            value: *found,
            words: format!("{}{}", rate(*found), if row.is_memory { " memory" } else { "" }),
            class: if row.is_memory { "memory" } else { "device" },
        })
        .collect();
    Some(bars::named_bars(
        &format!("costs-{number}"),
        &format!("What durability costs, in blocks of {}", short_size(size)),
        "The best way of each mode, the slowest first. Hatched: the speed of memory, nothing was made durable."
            .to_owned(),
        &bars,
    ))
}

/// Cells without a figure, by their reason.
fn reasons(matrix: &MatrixPage) -> Markup {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in &matrix.rows {
        for cell in &row.cells {
            let MatrixCell::None(why) = cell else { continue };
            match reasons.iter_mut().find(|(known, _)| known == why) {
                Some((_, rows)) if rows.contains(&row.name.as_str()) => {}
                Some((_, rows)) => rows.push(&row.name),
                None => reasons.push((why, vec![&row.name])),
            }
        }
    }
    html! {
        @if !reasons.is_empty() {
            h2 { "Not measured" }
            div.scroll tabindex="0" role="group" aria-label="Reasons" {
                table {
                    thead { tr { th scope="col" { "why" } th scope="col" { "modes" } } }
                    tbody { @for (why, rows) in reasons {
                        tr { td.words { (why) } td.words { (rows.join(", ")) } }
                    } }
                }
            }
        }
    }
}
