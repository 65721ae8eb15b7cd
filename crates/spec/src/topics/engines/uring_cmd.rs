//! Options of io_uring's passthrough commands.

use iosonde_options::{Built, Category, options};

use crate::values::{UringCommand, UringReadMode, UringWriteMode};

options! {
    /// io_uring_cmd
    pub struct IoUringCmd in Category::Engine {
        /// The kind of command.
        cmd_type: UringCommand = "nvme" as "cmd_type" {
            built: Built::No,
            good: &["nvme"],
            bad: &["ata"],
        }
        /// Bytes of a SCSI command block.
        cdb_len: u32 = "0" as "cdb_len" {
            built: Built::No,
            good: &["0", "16"],
            bad: &["some"],
        }
        /// Set Force Unit Access on reads.
        readfua: bool = "0" as "readfua" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Set Force Unit Access on writes.
        writefua: bool = "0" as "writefua" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// The command that writes.
        write_mode: UringWriteMode = "write" as "write_mode" {
            built: Built::No,
            good: &["write", "zeroes", "verify"],
            bad: &["append"],
        }
        /// The command that verifies.
        verify_mode: UringReadMode = "read" as "verify_mode" {
            built: Built::No,
            good: &["read", "compare"],
            bad: &["guess"],
        }
        /// The command that reads.
        read_mode: Option<String> = "" as "read_mode" {
            built: Built::No,
            good: &["read"],
        }
        /// The data that a SCSI verify command compares.
        verify_bytchk: u32 = "0" as "verify_bytchk" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["some"],
        }
        /// Deallocate on write zeroes.
        deac: bool = "0" as "deac" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}
