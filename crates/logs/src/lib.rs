//! Logs that fio and iosonde write (`write_bw_log`, `write_lat_log` and the
//! like), read back into series over time.
//!
//! A log is read as a stream: memory depends on the number of windows kept,
//! not on the number of rows. [`LogStart::of`] looks at the first rows and
//! decides which columns there are; [`read`] then takes each row. Nothing here
//! opens a file or draws.

#![forbid(unsafe_code)]

mod content;
mod dots;
mod layout;
mod name;
mod row;
mod start;
mod text;
mod values;
mod windows;

pub use content::{BrokenRow, BrokenRows, LogContent, LogDir, LogSum, ReadPlan, read};
pub use dots::{DotSample, LogDot};
pub use layout::LogLayout;
pub use name::{LogName, LogType};
pub use row::{LogRow, RowFault};
pub use start::{LogForm, LogStart};
pub use text::LogText;
pub use values::{ValueBin, ValueBins};
pub use windows::TimeWindows;

use std::fmt;
use std::io;

/// Why a log is refused.
#[derive(Debug)]
pub enum LogReadError {
    /// Of the file, or of its compression.
    Io(io::Error),
    /// Not a log: a sentence that begins with "it".
    NoLog(String),
    /// More than one row in a hundred is broken.
    Broken {
        /// How many.
        broken: u64,
        /// Of how many.
        rows: u64,
        /// The first of them.
        first: BrokenRow,
    },
}

impl fmt::Display for LogReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogReadError::Io(error) => write!(f, "cannot read it: {error}"),
            LogReadError::NoLog(why) => f.write_str(why),
            LogReadError::Broken { broken, rows, first } => write!(
                f,
                "{broken} of {rows} rows are broken, more than 1 %; the first is line {}: {}",
                first.line, first.fault
            ),
        }
    }
}

impl std::error::Error for LogReadError {}

impl From<io::Error> for LogReadError {
    fn from(error: io::Error) -> LogReadError {
        LogReadError::Io(error)
    }
}
