//! Trims of blocks that a verifying job has written.

use iosonde_options::{Category, options};

options! {
    /// Trims
    pub struct TrimOptions in Category::Trim {
        /// Percentage of verified blocks that are trimmed.
        trim_percentage: u32 = "0" as "trim_percentage" {
            parent: Some("verify"),
            min: Some(0),
            max: Some(100),
            with: &["rw=write", "verify=crc32c"],
            good: &["0", "10"],
            bad: &["101", "some"],
        }
        /// Verify that trimmed blocks read as zeroes.
        trim_verify_zero: bool = "1" as "trim_verify_zero" {
            parent: Some("trim_percentage"),
            with: &["rw=write", "verify=crc32c", "trim_percentage=10"],
        }
        /// Trim after every N writes.
        trim_backlog: u64 = "0" as "trim_backlog" {
            parent: Some("trim_percentage"),
            with: &["rw=write", "verify=crc32c", "trim_percentage=10"],
            good: &["0", "1024"],
        }
        /// Number of blocks to trim each time; default: `trim_backlog`.
        trim_backlog_batch: Option<u32> = "" as "trim_backlog_batch" {
            parent: Some("trim_percentage"),
            min: Some(0),
            with: &["rw=write", "verify=crc32c", "trim_percentage=10", "trim_backlog=1024"],
            good: &["0", "64"],
        }
    }
}
