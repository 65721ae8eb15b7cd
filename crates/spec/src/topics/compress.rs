//! How well the written data compresses and deduplicates.

use iosonde_options::{Bytes, Category, options};

use crate::values::DedupeMode;

options! {
    /// Compression and duplicates
    pub struct CompressOptions in Category::Buffer {
        /// Fill buffers with data that compresses by about this percentage.
        buffer_compress_percentage: Option<u32> = "" as "buffer_compress_percentage" {
            min: Some(0),
            max: Some(100),
            good: &["0", "50", "100"],
            bad: &["101", "well"],
        }
        /// Size of the units in which a buffer is compressible.
        buffer_compress_chunk: Bytes = "512" as "buffer_compress_chunk" {
            parent: Some("buffer_compress_percentage"),
            min: Some(0),
            with: &["buffer_compress_percentage=50"],
            good: &["512", "4k"],
        }
        /// Percentage of buffers that are duplicates.
        dedupe_percentage: Option<u32> = "" as "dedupe_percentage" {
            min: Some(0),
            max: Some(100),
            good: &["0", "50", "100"],
            bad: &["101", "some"],
        }
        /// Share the set of duplicates between all jobs.
        dedupe_global: bool = "0" as "dedupe_global" {
            needs: &["dedupe_percentage"],
            with: &["dedupe_percentage=50"],
        }
        /// How duplicates are chosen.
        dedupe_mode: DedupeMode = "repeat" as "dedupe_mode" {
            parent: Some("dedupe_percentage"),
            with: &["dedupe_percentage=50"],
            good: &["repeat", "working_set"],
        }
        /// Size of the set that duplicates are drawn from, as a percentage of the file.
        dedupe_working_set_percentage: u32 = "5" as "dedupe_working_set_percentage" {
            parent: Some("dedupe_percentage"),
            min: Some(0),
            max: Some(100),
            with: &["dedupe_percentage=50", "dedupe_mode=working_set"],
            good: &["5", "50"],
            bad: &["101", "some"],
        }
    }
}
