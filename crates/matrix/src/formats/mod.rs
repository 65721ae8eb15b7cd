//! The forms in which a sheet is written, a file each.

mod csv;
mod html;
mod json;
mod lines;
mod svg;
mod table;

use crate::sheet::Results;
use crate::values::ResultFormat;

/// The sheet as text.
pub fn write(sheet: &Results, format: ResultFormat) -> String {
    match format {
        ResultFormat::Table => table::write(sheet),
        ResultFormat::Lines => lines::write(sheet),
        ResultFormat::Json => json::write(sheet),
        ResultFormat::Csv => csv::write(sheet),
        ResultFormat::Svg => svg::write(sheet),
        ResultFormat::Html => html::write(sheet),
    }
}

/// Bytes per second in MiB per second.
fn mib(rate: f64) -> f64 {
    rate / f64::from(1 << 20)
}
