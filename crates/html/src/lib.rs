//! Reports as one HTML page that makes no request: charts, tables, settings.
//!
//! [`page`] turns reports into text and nothing else: the same reports give the
//! same bytes. All charts are SVG (heat maps a PNG inside), complete without
//! JavaScript; the script adds sorting, copying and hiding of series, and
//! computes nothing. Everything that is not written in this crate is text:
//! templates escape by construction.

#![forbid(unsafe_code)]

mod charts;
mod figures;
mod jobs;
mod page;
mod parts;
mod png;
mod run;
mod tables;

pub use page::{PAGE_BYTES_MOST, page};

use iosonde_report::Report;

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
}
