//! The results for programs; docs/matrix.md has the keys.

use crate::cell::{Access, WritePath};
use crate::meaning;
use crate::sheet::{NoFigure, ResultCell, Results};
use serde_json::{Value, json};

/// Raised when a key changes its meaning or goes.
const SCHEMA: u32 = 1;

/// One object.
pub fn write(sheet: &Results) -> String {
    let about = &sheet.about;
    let value = json!({
        "iosonde": env!("CARGO_PKG_VERSION"),
        "report": "matrix",
        "schema": SCHEMA,
        "began_unix_ms": sheet.began_unix_ms,
        "stopped": sheet.stopped,
        "target": {
            "path": about.path.to_string_lossy(),
            "kind": if about.is_device { "block device" } else { "file" },
            "temporary": about.temporary,
            "bytes_before": about.bytes,
            "span_bytes": sheet.span,
            "file_system": about.file_system,
            "disks": about.disks,
            "model": about.model,
            "serial": about.serial,
        },
        "seconds_per_cell_most": sheet.seconds_a_cell,
        "block_bytes": sheet.sizes,
        "modes": sheet.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "cells": cells(sheet),
        "flushes": sheet.flushes.as_ref().map(|flushes| json!({
            "disk": flushes.disk,
            "volatile_cache": flushes.volatile_cache,
            "syncs": flushes.syncs,
            "flushes": flushes.flushes,
        })),
        "meaning": meaning::sentences(sheet),
        "notes": meaning::notes(sheet),
    });
    let text = serde_json::to_string_pretty(&value).expect("keys are strings");
    text + "\n"
}

fn cells(sheet: &Results) -> Vec<Value> {
    let mut all = Vec::new();
    for (row, kind) in sheet.kinds.iter().enumerate() {
        for (column, &size) in sheet.sizes.iter().enumerate() {
            let mut value = json!({
                "mode": kind.name(),
                "block_bytes": size,
                "direction": if kind.writes() { "write" } else { "read" },
                "aligned": !matches!(kind, Access::Write(_, WritePath::Plain)),
                "direct": kind.is_direct(),
                "durable": kind.is_durable(),
                "memory_speed": kind.is_memory(),
            });
            let more = match &sheet.rows[row][column] {
                ResultCell::Measured(found) => json!({
                    "measured": true,
                    "bytes_per_s": found.rate.round(),
                    "bytes_per_s_low": found.low.round(),
                    "bytes_per_s_high": found.high.round(),
                    "settled": found.settled,
                    "slices": found.slices,
                    "blocks_per_slice": found.blocks,
                    "best_of_mode": sheet.is_best_of_row(row, column),
                    "best_of_block_size": sheet.is_best_of_column(row, column),
                }),
                ResultCell::Not(why) => json!({
                    "measured": false,
                    "why": match why {
                        NoFigure::NotHonoured(_) => "not_honoured",
                        NoFigure::Stopped => "stopped",
                        NoFigure::Failed(_) => "failed",
                    },
                    "reason": why.words(),
                }),
            };
            if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
                value.extend(more);
            }
            all.push(value);
        }
    }
    all
}
