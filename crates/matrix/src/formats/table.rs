//! Two tables of seven block sizes at most, side under side, so that they fit a
//! terminal of 80 columns; then what they mean.

use super::mib;
use crate::cell::{self, Access, WritePath};
use crate::meaning;
use crate::sheet::{ResultCell, Results};
use iosonde_base::text;
use std::fmt::Write;

/// Columns of one table.
const COLUMNS: usize = 7;
/// Letters of a line of text.
const LINE: usize = 80;
/// Of the first column, two names and a blank: `AMORTIZED_FDATASYNC O_DIRECT `.
const NAMES: usize = 29;

/// For people.
pub fn write(sheet: &Results) -> String {
    let failed = meaning::failed(sheet);
    let mut text = failed.iter().map(|failed| wrapped(failed)).collect::<String>();
    let title = format!("{}: first {}", sheet.about.words(), text::bytes(sheet.span));
    text.push_str(&wrapped(&title));
    text.push_str("MiB/s, one block at a time, one after the other\n");
    let columns: Vec<usize> = (0..sheet.sizes.len()).collect();
    for part in columns.chunks(COLUMNS) {
        text.push('\n');
        one_table(&mut text, sheet, part);
    }
    text.push('\n');
    text.push_str(&wrapped(
        "* best block size of its line   + best durable write, or read from storage, of its block \
         size   # both   ~ not settled within 5 %   - not measured",
    ));
    let meaning = meaning::sentences(sheet).split_off(usize::from(failed.is_some())).join(" ");
    let notes = meaning::notes(sheet);
    for paragraph in std::iter::once(&meaning).chain(&notes).filter(|words| !words.is_empty()) {
        text.push('\n');
        text.push_str(&wrapped(paragraph));
    }
    if sheet.stopped {
        text.push_str("\nStopped by a signal: these are the figures that were known by then.\n");
    }
    text
}

fn one_table(text: &mut String, sheet: &Results, columns: &[usize]) {
    let mut head = format!("{:NAMES$}", "block size");
    for &column in columns {
        let _ = write!(head, " {:>5} ", cell::short(u64::from(sheet.sizes[column])));
    }
    let _ = writeln!(text, "{}", head.trim_end());
    let mut group = "";
    for (row, kind) in sheet.kinds.iter().enumerate() {
        let name = if kind.group() == group { "" } else { kind.group() };
        group = kind.group();
        let mut line = format!("{name:<19} {:<9}", way(*kind));
        for &column in columns {
            line.push_str(&one_cell(sheet, row, column));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn way(kind: Access) -> &'static str {
    match kind {
        Access::Write(_, WritePath::Plain) => "plain",
        Access::Write(_, way) => way.name(),
        Access::Read(reading) => match reading {
            cell::ReadPath::Cold => "cold",
            cell::ReadPath::Warm => "warm",
            cell::ReadPath::Direct => "O_DIRECT",
        },
    }
}

/// Seven letters: doubt, figure, mark.
fn one_cell(sheet: &Results, row: usize, column: usize) -> String {
    let ResultCell::Measured(found) = &sheet.rows[row][column] else {
        return format!("{:>6} ", "-");
    };
    let mark = match (sheet.is_best_of_row(row, column), sheet.is_best_of_column(row, column)) {
        (true, true) => '#',
        (true, false) => '*',
        (false, true) => '+',
        (false, false) => ' ',
    };
    let doubt = if found.settled { ' ' } else { '~' };
    let figure = format!("{doubt}{}", iosonde_base::text::significant(mib(found.rate)));
    format!("{:>6}{mark}", figure.trim_start())
}

/// Words in lines.
fn wrapped(words: &str) -> String {
    let mut text = String::new();
    let mut used = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > LINE {
            text.push('\n');
            used = 0;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
    text
}
