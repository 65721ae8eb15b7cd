//! A page: the heat map, what durability costs, rates against the block size.

use super::{json, mib};
use crate::cell::{Access, ReadPath, WritePath};
use crate::meaning;
use crate::sheet::{ResultCell, Results};
use iosonde_base::text;
use iosonde_command::tested::{TestedRows, with_machine};
use iosonde_html::{MatrixCell, MatrixPage, MatrixRow, StudyAnswer, matrix_page};
use iosonde_report::finding::Severity;

/// One file, with everything in it that it needs.
pub fn write(sheet: &Results) -> String {
    matrix_page(&MatrixPage {
        target: format!("{}: first {}", sheet.about.words(), text::bytes(sheet.span)),
        answer: answer(sheet),
        tested: tested(sheet),
        sizes: sheet.sizes.iter().map(|&size| u64::from(size)).collect(),
        rows: (0..sheet.kinds.len()).map(|row| matrix_row(sheet, row)).collect(),
        json: Some(json::write(sheet)),
    })
}

/// The figures in words, and caveats.
fn answer(sheet: &Results) -> StudyAnswer {
    let stopped = "Stopped by a signal: these are the figures that were known by then.";
    let stopped = sheet.stopped.then(|| stopped.to_owned());
    let mut sentences = stopped.into_iter().chain(meaning::sentences(sheet));
    StudyAnswer {
        sentence: sentences.next().unwrap_or_else(|| "Nothing was measured.".to_owned()),
        is_bad: sheet.stopped || meaning::failed(sheet).is_some(),
        lines: sentences.collect(),
        findings: meaning::notes(sheet).into_iter().map(|note| (Severity::Note, note)).collect(),
        ..StudyAnswer::default()
    }
}

fn tested(sheet: &Results) -> TestedRows {
    let mut rows = with_machine(vec![("target", sheet.about.words())]);
    rows.push(("command", sheet.command.clone()));
    rows
}

fn matrix_row(sheet: &Results, row: usize) -> MatrixRow {
    let kind = sheet.kinds[row];
    let path = match kind {
        Access::Write(_, WritePath::Plain) => "plain",
        Access::Write(_, path) => path.name(),
        Access::Read(_) => "reads",
    };
    let mode = match kind {
        Access::Write(..) => kind.group(),
        Access::Read(ReadPath::Cold) => "READ_COLD",
        Access::Read(ReadPath::Warm) => "READ_WARM",
        Access::Read(ReadPath::Direct) => "READ",
    };
    MatrixRow {
        name: kind.name(),
        path,
        mode,
        is_write: kind.writes(),
        is_memory: kind.is_memory(),
        cells: (0..sheet.sizes.len()).map(|column| cell(sheet, row, column)).collect(),
    }
}

fn cell(sheet: &Results, row: usize, column: usize) -> MatrixCell {
    match &sheet.rows[row][column] {
        ResultCell::Measured(found) => {
            let doubt = if found.settled { "" } else { "~" };
            MatrixCell::Rate {
                bytes_per_s: found.rate,
                range: (found.low, found.high),
                text: format!("{doubt}{}", iosonde_base::text::significant(mib(found.rate))),
                is_best_of_row: sheet.is_best_of_row(row, column),
                is_best_of_column: sheet.is_best_of_column(row, column),
            }
        }
        ResultCell::Not(why) => MatrixCell::None(why.words().to_owned()),
    }
}
