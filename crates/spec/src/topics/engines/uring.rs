//! Options of io_uring, and of its passthrough commands.

use iosonde_options::{Built, Category, options};

use crate::values::{CmdPrioSplit, UringCommand, UringReadMode, UringWriteMode};

options! {
    /// io_uring
    pub struct IoUring in Category::Engine {
        /// Poll for completions rather than wait for interrupts (IORING_SETUP_IOPOLL).
        ///
        /// Direct I/O only.
        hipri: bool = "0" as "hipri" {
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Register the buffers once, rather than map them for every I/O.
        fixedbufs: bool = "0" as "fixedbufs" {
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Register the files once, rather than look them up for every I/O.
        registerfiles: bool = "0" as "registerfiles" {
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Let a thread of the kernel submit the I/O (IORING_SETUP_SQPOLL).
        sqthread_poll: bool = "0" as "sqthread_poll" {
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// The processor that thread runs on.
        sqthread_poll_cpu: Option<u32> = "" as "sqthread_poll_cpu" {
            good: &["0"],
            bad: &["first"],
        }
        /// Use plain reads and writes (1), vectored ones (0), or what the kernel has (-1).
        nonvectored: i32 = "-1" as "nonvectored" {
            min: Some(-1),
            good: &["0", "1"],
            bad: &["some"],
        }
        /// Drop pages from the page cache once they are read or written (RWF_DONTCACHE).
        uncached: u32 = "0" as "uncached" {
            good: &["0", "1"],
            bad: &["yes"],
        }
        /// Fail with EAGAIN rather than wait (RWF_NOWAIT).
        nowait: bool = "0" as "nowait" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Hand every so many-th I/O to a thread of the kernel at once (IOSQE_ASYNC).
        force_async: u32 = "0" as "force_async" {
            good: &["0", "8"],
            bad: &["some"],
        }
        /// Share of I/Os with a priority of their own, in percent; for reads, for writes.
        cmdprio_percentage: iosonde_options::Triple<u32> = "0" as "cmdprio_percentage" {
            min: Some(0),
            max: Some(100),
            good: &["0", "20", "20,0"],
            bad: &["101", "some"],
        }
        /// Class of that priority: 1 real time, 2 best effort, 3 idle.
        cmdprio_class: iosonde_options::Triple<Option<u32>> = "" as "cmdprio_class" {
            min: Some(1),
            max: Some(3),
            good: &["1", "2,3"],
            bad: &["0", "4"],
        }
        /// A hint to the device that goes with that priority.
        cmdprio_hint: iosonde_options::Triple<Option<u32>> = "" as "cmdprio_hint" {
            min: Some(0),
            max: Some(1023),
            good: &["0", "1"],
            bad: &["1024"],
        }
        /// That priority within its class, 0 the highest.
        cmdprio: iosonde_options::Triple<Option<u32>> = "" as "cmdprio" {
            min: Some(0),
            max: Some(7),
            good: &["0", "7"],
            bad: &["8"],
        }
        /// Shares of I/Os with that priority, by block size: `4k/20:64k/0`.
        ///
        /// For reads, for writes. A share may name a priority of its own, class, level and hint:
        /// `4k/20/1/0:4k/10/2/7/1`.
        cmdprio_bssplit: Option<CmdPrioSplit> = "" as "cmdprio_bssplit" {
            good: &["4k/20:64k/0", "4k/20/1/0:4k/10/2/7,64k/5", "4k/20/1/0/3"],
            bad: &["4k/20/1", "/20", "4k/60:4k/60", "4k/20/4/0", "4k/20/1/8"],
        }
        /// Bytes of metadata that go with each I/O.
        md_per_io_size: u32 = "0" as "md_per_io_size" {
            built: Built::No,
            good: &["0", "64"],
            bad: &["some"],
        }
        /// Let the device make and strip protection information.
        pi_act: bool = "1" as "pi_act" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// What protection information is checked: GUARD, REFTAG, APPTAG, parted by commas.
        pi_chk: Option<String> = "" as "pi_chk" {
            built: Built::No,
            good: &["GUARD,APPTAG"],
        }
        /// Application tag of the protection information.
        apptag: u32 = "0x1234" as "apptag" {
            built: Built::No,
            good: &["0x1234"],
            bad: &["tag"],
        }
        /// Bits of the application tag that are checked.
        apptag_mask: u32 = "0xffff" as "apptag_mask" {
            built: Built::No,
            good: &["0xffff"],
            bad: &["all"],
        }
    }
}

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
        /// What a SCSI verify command compares.
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
