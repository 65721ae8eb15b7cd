//! Directions of I/O, their mix, and the order of offsets.

use iosonde_options::{Amount, Bytes, Category, FioSupport, options};

use crate::values::{Rw, RwSequencer};

options! {
    /// Directions and order
    pub struct OrderOptions in Category::IoBasic {
        /// Direction and order of the I/O.
        ///
        /// A number after a colon: for random jobs, a new offset is drawn every N I/Os
        /// (`randread:8`); for sequential jobs, N bytes are skipped after each I/O, backwards
        /// if negative (`read:8k`, `read:-8k`).
        rw: Rw = "read" as "rw" | "readwrite" {
            fio: FioSupport::Differs("text after the colon that is not a number is refused; fio ignores it"),
            good: &["read", "randrw", "randread:8", "read:8k", "write:-8k", "trimwrite"],
            bad: &["READ", "readx", "append"],
        }
        /// Offsets of the I/Os between two draws of `rw=randread:N`.
        rw_sequencer: RwSequencer = "sequential" as "rw_sequencer" {
            category: Category::IoPattern,
            with: &["rw=randread:8"],
            good: &["sequential", "identical"],
        }
        /// Percentage of reads in a mixed job.
        rwmixread: u32 = "50" as "rwmixread" {
            min: Some(0),
            max: Some(100),
            with: &["rw=randrw"],
            good: &["0", "70", "100"],
            bad: &["101", "most"],
        }
        /// Percentage of writes in a mixed job.
        ///
        /// Of `rwmixread` and `rwmixwrite`, the last one given counts.
        rwmixwrite: u32 = "50" as "rwmixwrite" {
            min: Some(0),
            max: Some(100),
            with: &["rw=randrw"],
            good: &["0", "30", "100"],
            bad: &["101", "few"],
        }
        /// Start of the I/O range in each file.
        ///
        /// Bytes, a percentage of the file, or zones of `zonemode` (`4z`).
        offset: Amount = "0" as "offset" | "fileoffset" {
            zones: true,
            good: &["0", "1m", "20%"],
        }
        /// Round a percentage offset down to a multiple of this.
        offset_align: Bytes = "0" as "offset_align" {
            category: Category::IoPattern,
            min: Some(0),
            with: &["offset=20%"],
            good: &["0", "4k"],
        }
        /// Added to the offset for each further clone of the job.
        ///
        /// Bytes, a percentage of the file, or zones of `zonemode` (`4z`).
        offset_increment: Amount = "0" as "offset_increment" {
            zones: true,
            with: &["numjobs=4"],
            good: &["0", "1g", "10%"],
        }
        /// End after this many I/Os; 0 for no limit.
        ///
        /// It does not extend a job beyond its size.
        number_ios: u64 = "0" as "number_ios" {
            good: &["0", "1000", "1k"],
        }
        /// Percentage of I/Os at random offsets, for each direction.
        percentage_random: iosonde_options::Triple<u32> = "100" as "percentage_random" {
            category: Category::IoPattern,
            min: Some(0),
            max: Some(100),
            with: &["rw=randread"],
            good: &["100", "50", "100,0,50"],
            bad: &["101", "half"],
        }
    }
}
