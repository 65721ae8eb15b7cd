//! Options of engines that do something else than read and write, or do it to odd devices.

use iosonde_options::{Built, Category, options};

use crate::values::{CpuMode, SgWriteMode, StatType};

options! {
    /// cpuio
    pub struct CpuIo in Category::Engine {
        /// Share of a processor to burn, in percent.
        cpuload: u32 = "0" as "cpuload" {
            built: Built::Yes,
            good: &["0", "85"],
            bad: &["high"],
        }
        /// Length of a burn, in microseconds.
        cpuchunks: u32 = "50000" as "cpuchunks" {
            built: Built::Yes,
            good: &["50000"],
            bad: &["long"],
        }
        /// What time is burnt with.
        cpumode: CpuMode = "noop" as "cpumode" {
            built: Built::Yes,
            good: &["noop", "qsort"],
            bad: &["dance"],
        }
        /// End when the jobs that do I/O have ended.
        exit_on_io_done: bool = "0" as "exit_on_io_done" {
            built: Built::Yes,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// exec
    pub struct Exec in Category::Engine {
        /// The program to run.
        program: Option<String> = "" as "program" {
            built: Built::Yes,
            good: &["/bin/true"],
        }
        /// Its arguments; `%r` is the runtime in seconds, `%n` the job's name.
        arguments: Option<String> = "" as "arguments" {
            built: Built::Yes,
            good: &["-t %r"],
        }
        /// Seconds between asking it to end and making it.
        grace_time: u32 = "1" as "grace_time" {
            built: Built::Yes,
            good: &["1", "10"],
            bad: &["long"],
        }
        /// Send its output to files named after the job.
        std_redirect: bool = "1" as "std_redirect" {
            built: Built::Yes,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// filestat
    pub struct FileStat in Category::Engine {
        /// The call that asks for a file's attributes.
        stat_type: StatType = "stat" as "stat_type" {
            built: Built::Yes,
            good: &["stat", "lstat", "statx"],
            bad: &["fstat"],
        }
    }
}

options! {
    /// e4defrag
    pub struct E4Defrag in Category::Engine {
        /// The file whose blocks are given away.
        donorname: Option<String> = "" as "donorname" {
            built: Built::No,
            good: &["donor"],
        }
        /// Take and give back the donor's blocks at each I/O.
        inplace: u32 = "0" as "inplace" {
            built: Built::No,
            min: Some(0),
            max: Some(1),
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// mtd
    pub struct Mtd in Category::Engine {
        /// Leave out blocks that are known to be bad.
        skip_bad: bool = "0" as "skip_bad" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// sg
    pub struct Sg in Category::Engine {
        /// Poll for completions rather than wait for interrupts.
        hipri: bool = "0" as "hipri" {
            built: Built::No,
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
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
        /// The SCSI command that writes.
        sg_write_mode: SgWriteMode = "write" as "sg_write_mode" {
            built: Built::No,
            good: &["write", "verify", "same"],
            bad: &["append"],
        }
        /// The stream that WRITE STREAM writes to.
        stream_id: u32 = "0" as "stream_id" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["first"],
        }
    }
}
