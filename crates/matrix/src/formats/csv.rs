//! One line a cell with all its figures, under a line of names (RFC 4180).

use super::mib;
use crate::sheet::{ResultCell, Results};
use iosonde_base::text::csv_cell;

/// All kinds, each with all block sizes.
pub fn write(sheet: &Results) -> String {
    let mut text = String::from(
        "mode,block_bytes,mib_per_s,low_mib_per_s,high_mib_per_s,settled,slices,blocks_per_slice,reason\n",
    );
    for (kind, row) in sheet.kinds.iter().zip(&sheet.rows) {
        for (size, cell) in sheet.sizes.iter().zip(row) {
            let fields = match cell {
                ResultCell::Measured(found) => [
                    format!("{:.4}", mib(found.rate)),
                    format!("{:.4}", mib(found.low)),
                    format!("{:.4}", mib(found.high)),
                    found.settled.to_string(),
                    found.slices.to_string(),
                    found.blocks.to_string(),
                    String::new(),
                ],
                ResultCell::Not(why) => {
                    let mut fields = [const { String::new() }; 7];
                    fields[6] = why.words().to_owned();
                    fields
                }
            };
            let fields = fields.each_ref().map(|field| csv_cell(field)).join(",");
            text.push_str(&format!("{},{size},{fields}\n", kind.name()));
        }
    }
    text
}
