//! The results for programs; docs/matrix.md has the keys.

use crate::cell::{Access, WritePath};
use crate::meaning;
use crate::sheet::{NoFigure, ResultCell, Results};
use crate::witness::Flushes;
use serde::Serialize;
use std::borrow::Cow;

/// One object.
#[derive(Serialize)]
struct MatrixDocument<'a> {
    iosonde: &'static str,
    report: &'static str,
    /// Raised when a key changes its meaning or goes.
    schema: u32,
    began_unix_ms: u64,
    stopped: bool,
    target: TargetDocument<'a>,
    seconds_per_cell_most: f64,
    block_bytes: &'a [u32],
    modes: Vec<String>,
    cells: Vec<CellDocument<'a>>,
    flushes: Option<&'a Flushes>,
    meaning: Vec<String>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct TargetDocument<'a> {
    path: Cow<'a, str>,
    kind: &'static str,
    temporary: bool,
    bytes_before: u64,
    span_bytes: u64,
    file_system: &'a Option<String>,
    disks: &'a [String],
    model: &'a Option<String>,
    serial: &'a Option<String>,
}

#[derive(Serialize)]
struct CellDocument<'a> {
    mode: String,
    block_bytes: u32,
    direction: &'static str,
    aligned: bool,
    direct: bool,
    durable: bool,
    memory_speed: bool,
    measured: bool,
    #[serde(flatten)]
    found: FoundDocument<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum FoundDocument<'a> {
    Measured {
        bytes_per_s: f64,
        bytes_per_s_low: f64,
        bytes_per_s_high: f64,
        settled: bool,
        slices: usize,
        blocks_per_slice: u64,
        best_of_mode: bool,
        best_of_block_size: bool,
    },
    Not {
        why: &'static str,
        reason: &'a str,
    },
}

/// The document as text.
pub fn write(sheet: &Results) -> String {
    let about = &sheet.about;
    let document = MatrixDocument {
        iosonde: env!("CARGO_PKG_VERSION"),
        report: "matrix",
        schema: 1,
        began_unix_ms: sheet.began_unix_ms,
        stopped: sheet.stopped,
        target: TargetDocument {
            path: about.path.to_string_lossy(),
            kind: if about.is_device { "block device" } else { "file" },
            temporary: about.temporary,
            bytes_before: about.bytes,
            span_bytes: sheet.span,
            file_system: &about.file_system,
            disks: &about.disks,
            model: &about.model,
            serial: &about.serial,
        },
        seconds_per_cell_most: sheet.seconds_a_cell,
        block_bytes: &sheet.sizes,
        modes: sheet.kinds.iter().map(|kind| kind.name()).collect(),
        cells: cells(sheet),
        flushes: sheet.flushes.as_ref(),
        meaning: meaning::sentences(sheet),
        notes: meaning::notes(sheet),
    };
    iosonde_command::document::text(&document)
}

fn cells(sheet: &Results) -> Vec<CellDocument<'_>> {
    let rows = sheet.kinds.iter().enumerate();
    let cells = rows.flat_map(|(row, &kind)| (0..sheet.sizes.len()).map(move |at| (row, kind, at)));
    cells.map(|(row, kind, column)| cell(sheet, row, kind, column)).collect()
}

fn cell(sheet: &Results, row: usize, kind: Access, column: usize) -> CellDocument<'_> {
    let cell = &sheet.rows[row][column];
    CellDocument {
        mode: kind.name(),
        block_bytes: sheet.sizes[column],
        direction: if kind.writes() { "write" } else { "read" },
        aligned: !matches!(kind, Access::Write(_, WritePath::Plain)),
        direct: kind.is_direct(),
        durable: kind.is_durable(),
        memory_speed: kind.is_memory(),
        measured: matches!(cell, ResultCell::Measured(_)),
        found: match cell {
            ResultCell::Measured(found) => FoundDocument::Measured {
                bytes_per_s: found.rate.round(),
                bytes_per_s_low: found.low.round(),
                bytes_per_s_high: found.high.round(),
                settled: found.settled,
                slices: found.slices,
                blocks_per_slice: found.blocks,
                best_of_mode: sheet.is_best_of_row(row, column),
                best_of_block_size: sheet.is_best_of_column(row, column),
            },
            ResultCell::Not(why) => FoundDocument::Not {
                why: match why {
                    NoFigure::NotHonoured(_) => "not_honoured",
                    NoFigure::Stopped => "stopped",
                    NoFigure::Failed(_) => "failed",
                },
                reason: why.words(),
            },
        },
    }
}
