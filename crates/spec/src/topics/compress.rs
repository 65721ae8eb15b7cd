//! How well what is written compresses and deduplicates.

use iosonde_options::{Bytes, Category, options};

use crate::values::DedupeMode;

options! {
    /// Compression and duplicates
    pub struct CompressOptions in Category::Buffer {
        /// Fill buffers so that they compress by about this much, in percent.
        buffer_compress_percentage: Option<u32> = "" as "buffer_compress_percentage" {
            min: Some(0),
            max: Some(100),
            good: &["0", "50", "100"],
            bad: &["101", "well"],
        }
        /// Size of the pieces in which a buffer compresses.
        buffer_compress_chunk: Bytes = "512" as "buffer_compress_chunk" {
            parent: Some("buffer_compress_percentage"),
            min: Some(0),
            good: &["512", "4k"],
            bad: &["small"],
        }
        /// Share of buffers that repeat another one, in percent.
        dedupe_percentage: Option<u32> = "" as "dedupe_percentage" {
            min: Some(0),
            max: Some(100),
            good: &["0", "50", "100"],
            bad: &["101", "some"],
        }
        /// Draw duplicates from all jobs, not each from its own.
        dedupe_global: bool = "0" as "dedupe_global" {
            needs: &["dedupe_percentage"],
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Which buffers are repeated.
        dedupe_mode: DedupeMode = "repeat" as "dedupe_mode" {
            parent: Some("dedupe_percentage"),
            good: &["repeat", "working_set"],
            bad: &["all"],
        }
        /// Size of the set that duplicates are drawn from, in percent of the file.
        dedupe_working_set_percentage: u32 = "5" as "dedupe_working_set_percentage" {
            parent: Some("dedupe_percentage"),
            min: Some(0),
            max: Some(100),
            good: &["5", "50"],
            bad: &["101", "some"],
        }
    }
}
