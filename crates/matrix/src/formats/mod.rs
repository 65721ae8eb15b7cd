//! The forms in which a sheet is written, a file each.

mod csv;
mod json;
mod lines;
mod svg;
mod table;

use crate::sheet::Sheet;
use crate::values::Format;

/// The sheet as text.
pub fn write(sheet: &Sheet, format: Format) -> String {
    match format {
        Format::Table => table::write(sheet),
        Format::Lines => lines::write(sheet),
        Format::Json => json::write(sheet),
        Format::Csv => csv::write(sheet),
        Format::Svg => svg::write(sheet),
    }
}

/// Bytes per second in MiB per second.
fn mib(rate: f64) -> f64 {
    rate / f64::from(1 << 20)
}
