//! One row of a log.

use crate::LogLayout;
use iosonde_base::Dir;
use std::fmt;

/// Columns that a row of bandwidth, IOPS or latency has at most.
pub(crate) const COLUMNS_MOST: usize = 8;

/// A row of a bandwidth, IOPS or latency log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// Milliseconds, since the job's start or of a clock.
    pub time_ms: u64,
    /// The value, or the mean of a window.
    pub value: u64,
    /// The largest of a window (`log_window_value=both`); else the value.
    pub most: u64,
    /// The direction.
    pub dir: Dir,
    /// Bytes of the I/O; 0 in windows.
    pub block: u64,
    /// Where the I/O was (`log_offset`).
    pub offset: Option<u64>,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFault {
    /// Other than the rows before it.
    Columns {
        /// How many there are.
        found: usize,
        /// How many there should be.
        wanted: usize,
    },
    /// A column, counted from 1, is not a whole number.
    NotNumber {
        /// Which.
        column: usize,
        /// Its text, the first of it.
        text: String,
    },
    /// A direction above 2.
    Direction(u64),
    /// A block size above 4 GiB.
    Block(u64),
    /// No row is so long.
    TooLong,
}

impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowFault::Columns { found, wanted } => write!(f, "{found} columns, not {wanted}"),
            RowFault::NotNumber { column, text } => {
                write!(f, "column {column} is not a whole number: {text:?}")
            }
            RowFault::Direction(dir) => {
                write!(f, "direction {dir}: 0 is read, 1 write, 2 trim")
            }
            RowFault::Block(block) => write!(f, "a block of {block} bytes"),
            RowFault::TooLong => f.write_str("the line is longer than 64 KiB"),
        }
    }
}

/// The numbers of a line, and which of them were written as hexadecimal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowNumbers {
    pub values: [u64; COLUMNS_MOST],
    pub count: usize,
    pub hexadecimal: [bool; COLUMNS_MOST],
}

impl RowNumbers {
    /// Of a line without its end. More columns than there can be are counted.
    pub fn of(line: &[u8]) -> Result<RowNumbers, RowFault> {
        let mut columns = RowNumbers::default();
        for text in line.split(|&byte| byte == b',') {
            let at = columns.count;
            columns.count += 1;
            if at < COLUMNS_MOST {
                let (value, is_hexadecimal) =
                    number(text).ok_or_else(|| not_number(at + 1, text))?;
                columns.values[at] = value;
                columns.hexadecimal[at] = is_hexadecimal;
            }
        }
        Ok(columns)
    }
}

impl LogRow {
    /// The row of a line without its end.
    pub(crate) fn of(line: &[u8], layout: LogLayout) -> Result<LogRow, RowFault> {
        let columns = RowNumbers::of(line)?;
        if columns.count != layout.columns() {
            return Err(RowFault::Columns { found: columns.count, wanted: layout.columns() });
        }
        layout.row(&columns)
    }
}

pub(crate) fn not_number(column: usize, text: &[u8]) -> RowFault {
    let text = String::from_utf8_lossy(text);
    RowFault::NotNumber { column, text: text.trim().chars().take(40).collect() }
}

/// A number in digits, or in hexadecimal behind `0x`, with blanks around it.
pub(crate) fn number(text: &[u8]) -> Option<(u64, bool)> {
    let text = text.trim_ascii();
    if let Some(digits) = text.strip_prefix(b"0x") {
        let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
        return Some((u64::from_str_radix(digits, 16).ok()?, true));
    }
    if text.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some((value, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_fit() {
        assert_eq!(number(b" 18446744073709551615"), Some((u64::MAX, false)));
        assert_eq!(number(b" 0x4004\r"), Some((0x4004, true)));
        for bad in ["", " ", "-1", "1.5", "18446744073709551616", "0x", "0x+1", "1 2", "x"] {
            assert_eq!(number(bad.as_bytes()), None, "{bad}");
        }
    }
}
