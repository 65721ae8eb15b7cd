//! One line a cell, as benchmark.js of @ronomon/direct-io 3.0.1 prints them
//! (observed): `     65536 | FILE | FSYNC + O_DIRECT                       |    21.68 MB/s`,
//! where MB are MiB. A cell without a figure has a dash in its place.

use super::mib;
use crate::sheet::Results;
use std::fmt::Write;

/// All block sizes, each with all kinds.
pub fn write(sheet: &Results) -> String {
    let mut text = String::new();
    let path = sheet.about.path.display();
    for (column, size) in sheet.sizes.iter().enumerate() {
        for (kind, row) in sheet.kinds.iter().zip(&sheet.rows) {
            let name = kind.name();
            let figure = match row[column].rate() {
                Some(rate) => format!("{:.2}", mib(rate)),
                None => "-".to_owned(),
            };
            let _ = writeln!(text, "{size:>10} | {path} | {name:<38} | {figure:>8} MB/s");
        }
    }
    text
}
