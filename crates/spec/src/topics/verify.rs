//! Whether what was written can be read back.

use iosonde_options::{Built, Bytes, Category, CpuSet, options};

use crate::values::{PatternText, Verify, VerifyPolicy};

options! {
    /// Verification
    pub struct VerifyOptions in Category::Verify {
        /// Check data, by a checksum or a pattern.
        verify: Verify = "0" as "verify" {
            built: Built::No,
            good: &["0", "crc32c", "md5", "pattern", "null"],
            bad: &["1", "well"],
        }
        /// Only check: go through the motions of writing, write nothing, then read.
        verify_only: bool = "0" as "verify_only" {
            built: Built::No,
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Read back and check once the writing is done.
        do_verify: bool = "1" as "do_verify" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1"],
            bad: &["2", "no"],
        }
        /// Which writes are checked after a crash.
        verify_policy: VerifyPolicy = "completed" as "verify_policy" {
            built: Built::No,
            parent: Some("verify"),
            good: &["completed", "fsynced"],
            bad: &["most"],
        }
        /// Put a header every so many bytes rather than one a block.
        verify_interval: Option<Bytes> = "" as "verify_interval" {
            built: Built::No,
            parent: Some("verify"),
            min: Some(80),
            good: &["512", "4k"],
            bad: &["79", "often"],
        }
        /// Put the header this far into the block.
        verify_offset: Option<Bytes> = "" as "verify_offset" {
            built: Built::No,
            parent: Some("verify"),
            min: Some(40),
            good: &["40", "512"],
            bad: &["39", "middle"],
        }
        /// Fill blocks with this: as `buffer_pattern`, and `%o` is the block's offset.
        verify_pattern: Option<PatternText> = "" as "verify_pattern" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0xff", "\"abcd\"", "%o", "\"x\"%o"],
            bad: &["abcd", "0x"],
        }
        /// Begin the pattern anew every so many bytes.
        verify_pattern_interval: bool = "0" as "verify_pattern_interval" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// End the job at the first block that is wrong.
        verify_fatal: bool = "0" as "verify_fatal" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Write what was read and what was expected to files when a block is wrong.
        verify_dump: bool = "0" as "verify_dump" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Threads that check beside the one that reads.
        verify_async: u32 = "0" as "verify_async" {
            built: Built::No,
            parent: Some("verify"),
            min: Some(0),
            good: &["0", "4"],
            bad: &["some"],
        }
        /// Processors for those threads.
        verify_async_cpus: Option<CpuSet> = "" as "verify_async_cpus" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "0-1"],
        }
        /// Check after every so many writes, not only at the end.
        verify_backlog: u64 = "0" as "verify_backlog" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1024"],
            bad: &["some"],
        }
        /// Blocks checked each time; `verify_backlog` of them if not given.
        verify_backlog_batch: Option<u32> = "" as "verify_backlog_batch" {
            built: Built::No,
            parent: Some("verify"),
            min: Some(0),
            good: &["0", "64"],
            bad: &["some"],
        }
        /// Draw the places again when checking, rather than keep a list of them.
        experimental_verify: bool = "0" as "experimental_verify" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Check up to where a saved state says that writing ended.
        verify_state_load: bool = "0" as "verify_state_load" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Save where writing ended.
        verify_state_save: bool = "1" as "verify_state_save" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1"],
            bad: &["2", "no"],
        }
        /// Check that blocks carry the number of the write that wrote them.
        verify_write_sequence: bool = "1" as "verify_write_sequence" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1"],
            bad: &["2", "no"],
        }
        /// Check that blocks carry the seed that they were made from.
        verify_header_seed: bool = "1" as "verify_header_seed" {
            built: Built::No,
            parent: Some("verify"),
            good: &["0", "1"],
            bad: &["2", "no"],
        }
    }
}
