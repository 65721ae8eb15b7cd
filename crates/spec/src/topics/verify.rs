//! Verification of written data.

use iosonde_options::{Bytes, Category, CpuSet, options};

use crate::values::{PatternText, Verify, VerifyPolicy};

options! {
    /// Verification
    pub struct VerifyOptions in Category::Verify {
        /// Verify data by a checksum or a pattern.
        verify: Verify = "0" as "verify" {
            with: &["rw=write"],
            good: &["0", "crc32c", "md5", "pattern", "null"],
            bad: &["1", "well"],
        }
        /// Verify only: skip the writes, then read and check.
        verify_only: bool = "0" as "verify_only" {
            bare: Some("1"),
            with: &["rw=write", "verify=crc32c"],
        }
        /// Run the verify phase after the writes.
        do_verify: bool = "1" as "do_verify" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
        }
        /// Which writes are verified: all that completed, or those that a sync followed.
        verify_policy: VerifyPolicy = "completed" as "verify_policy" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
            good: &["completed", "fsynced"],
        }
        /// Write a header every N bytes rather than one per block.
        verify_interval: Option<Bytes> = "" as "verify_interval" {
            parent: Some("verify"),
            min: Some(96),
            with: &["rw=write", "verify=crc32c"],
            good: &["512", "4k"],
            bad: &["79", "often"],
        }
        /// Offset of the header within the block.
        verify_offset: Option<Bytes> = "" as "verify_offset" {
            parent: Some("verify"),
            min: Some(48),
            with: &["rw=write", "verify=crc32c"],
            good: &["48", "512"],
            bad: &["39", "middle"],
        }
        /// Fill blocks with this pattern: as `buffer_pattern`; `%o` is the block's offset.
        verify_pattern: Option<PatternText> = "" as "verify_pattern" {
            parent: Some("verify"),
            with: &["rw=write", "verify=pattern"],
            good: &["0xff", "\"abcd\"", "%o", "\"x\"%o"],
            bad: &["abcd", "0x"],
        }
        /// Restart the pattern at every verify interval.
        verify_pattern_interval: Bytes = "0" as "verify_pattern_interval" {
            parent: Some("verify"),
            with: &["rw=write", "verify=pattern", "verify_pattern=%o"],
            good: &["0", "512", "4k"],
        }
        /// End the job at the first verification failure.
        verify_fatal: bool = "0" as "verify_fatal" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
        }
        /// On a failure, dump the data read and the data expected to files.
        verify_dump: bool = "0" as "verify_dump" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
        }
        /// Number of threads that check blocks while the job reads on; 0: the job's own thread.
        verify_async: u32 = "0" as "verify_async" {
            parent: Some("verify"),
            min: Some(0),
            with: &["rw=write", "verify=crc32c"],
            good: &["0", "4"],
        }
        /// CPUs for the verify threads.
        verify_async_cpus: Option<CpuSet> = "" as "verify_async_cpus" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c", "verify_async=2"],
            good: &["0", "0-1"],
        }
        /// Verify after every N writes, not only at the end.
        verify_backlog: u64 = "0" as "verify_backlog" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
            good: &["0", "1024"],
        }
        /// Number of blocks to verify each time; default: `verify_backlog`.
        verify_backlog_batch: Option<u32> = "" as "verify_backlog_batch" {
            parent: Some("verify"),
            min: Some(0),
            with: &["rw=write", "verify=crc32c", "verify_backlog=1024"],
            good: &["0", "64"],
        }
        /// Draw the writes a second time for the verify phase rather than remember them.
        experimental_verify: bool = "0" as "experimental_verify" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
        }
        /// Verify up to where the state file of an earlier run says that writes ended.
        verify_state_load: bool = "0" as "verify_state_load" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
        }
        /// Save where writes ended to a state file, however the job ends.
        verify_state_save: bool = "1" as "verify_state_save" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
        }
        /// Check the write sequence number in block headers.
        verify_write_sequence: bool = "1" as "verify_write_sequence" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
        }
        /// Check the seed in block headers.
        verify_header_seed: bool = "1" as "verify_header_seed" {
            parent: Some("verify"),
            with: &["rw=write", "verify=crc32c"],
        }
    }
}
