//! Reports as one HTML page that makes no request: charts, tables, settings.
//!
//! [`page`] turns reports into text and nothing else, and so do the pages of a
//! comparison, a sweep, a search and a matrix: the same figures give the same bytes. All charts are SVG (heat maps a PNG inside), complete without
//! JavaScript; the script adds sorting, copying and hiding of series, and
//! computes nothing. Everything that is not written in this crate is text:
//! templates escape by construction.

#![forbid(unsafe_code)]

mod cards;
mod charts;
mod command_line;
mod compared;
mod comparison;
mod figures;
mod hosts;
mod jobs;
mod matrix;
mod overlay;
mod page;
mod parts;
mod plot;
mod png;
mod run;
mod search;
mod study;
mod sweep;
mod tables;
mod tested;
mod typical;
mod unit;
mod verified;

pub use charts::colour;
pub use charts::probes::SearchedProbe;
pub use compared::{ComparedFigure, FigureVerdict, RunPlace};
pub use comparison::{ComparedJob, ComparedSide, ComparisonPage, PartRow, comparison_page};
pub use matrix::{MatrixCell, MatrixPage, MatrixRow, matrix_page};
pub use overlay::with_short_names;
pub use page::{PAGE_BYTES_MOST, page};
pub use plot::{
    COLUMN_SERIES_MOST, ChartLine, Column, ColumnsChart, DotsChart, LinePoint, LineStyle,
    LinesChart, MarkedRange, PlotCell, PlotPart, PlotTable, plot_page,
};
pub use search::{SearchPage, search_page};
pub use study::{StudyAnswer, StudyCard, StudyGoal};
pub use sweep::{
    AxisValue, KneePlace, SweepPage, SweptFigure, SweptKind, SweptKnee, SweptPoint, sweep_page,
};
pub use tested::tested_rows;
pub use unit::FigureUnit;

use iosonde_report::Report;
use iosonde_report::finding::Finding;

/// A report and where it is from.
#[derive(Clone, Copy, Debug)]
pub struct PageRun<'a> {
    /// What the page calls it: a file's name.
    pub name: &'a str,
    /// The report.
    pub report: &'a Report,
    /// The result as JSON, to be downloaded from the page.
    pub json: Option<&'a str>,
    /// What was derived or not there when the result was read.
    pub notes: &'a [String],
    /// What a check of a result without a ledger finds: fio's.
    pub findings: &'a [Finding],
}

/// Which of the runs of a page one is.
#[derive(Clone, Copy)]
pub(crate) struct RunNumber {
    /// From 0 on.
    pub at: usize,
    /// It is the only one, and needs no name.
    pub is_alone: bool,
}
