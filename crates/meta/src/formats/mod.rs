//! The formats of results.

mod csv;
mod json;
pub mod page;
mod table;

use crate::arguments::MetaFormat;
use crate::result::MetaResult;

/// The result in a format.
pub fn write(result: &MetaResult, format: MetaFormat) -> String {
    match format {
        MetaFormat::Table => table::write(result),
        MetaFormat::Json => json::write(result),
        MetaFormat::Csv => csv::write(result),
    }
}

/// Percentiles that are shown.
const PERCENTILES: [f64; 2] = [50.0, 99.0];
