//! Trims of blocks that verification has written.

use iosonde_options::{Built, Category, options};

options! {
    /// Trims
    pub struct TrimOptions in Category::Trim {
        /// Share of verified blocks that are trimmed, in percent.
        trim_percentage: u32 = "0" as "trim_percentage" {
            built: Built::No,
            parent: Some("verify"),
            min: Some(0),
            max: Some(100),
            good: &["0", "10"],
            bad: &["101", "some"],
        }
        /// Check that trimmed blocks read as zeroes.
        trim_verify_zero: bool = "1" as "trim_verify_zero" {
            built: Built::No,
            parent: Some("trim_percentage"),
            good: &["0", "1"],
            bad: &["2", "no"],
        }
        /// Trim after every so many writes.
        trim_backlog: u64 = "0" as "trim_backlog" {
            built: Built::No,
            parent: Some("trim_percentage"),
            good: &["0", "1024"],
            bad: &["some"],
        }
        /// Blocks trimmed each time; `trim_backlog` of them if not given.
        trim_backlog_batch: Option<u32> = "" as "trim_backlog_batch" {
            built: Built::No,
            parent: Some("trim_percentage"),
            min: Some(0),
            good: &["0", "64"],
            bad: &["some"],
        }
    }
}
