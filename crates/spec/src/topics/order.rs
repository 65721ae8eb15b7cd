//! Which way data goes, in which mix, and in which order places follow each other.

use iosonde_options::{Amount, Bytes, Category, FioSupport, options};

use crate::values::{Rw, RwSequencer};

options! {
    /// Directions and order
    pub struct OrderOptions in Category::IoBasic {
        /// Direction and order of the I/O.
        ///
        /// A number after a colon: for random jobs, a new place is drawn every so many I/Os
        /// (`randread:8`); for sequential ones, so many bytes are left out after each I/O,
        /// or walked back if negative (`read:8k`, `read:-8k`).
        rw: Rw = "read" as "rw" | "readwrite" {
            fio: FioSupport::Differs("a text after the colon that is no number is refused; fio takes it for none"),
            good: &["read", "randrw", "randread:8", "read:8k", "write:-8k", "trimwrite"],
            bad: &["READ", "readx", "append"],
        }
        /// What the I/Os between two draws of `rw=randread:N` do.
        rw_sequencer: RwSequencer = "sequential" as "rw_sequencer" {
            category: Category::IoPattern,
            good: &["sequential", "identical"],
            bad: &["random"],
        }
        /// Share of reads in a mixed job, in percent.
        rwmixread: u32 = "50" as "rwmixread" {
            min: Some(0),
            max: Some(100),
            good: &["0", "70", "100"],
            bad: &["101", "most"],
        }
        /// Share of writes in a mixed job, in percent.
        ///
        /// Of this and `rwmixread`, the one given last counts.
        rwmixwrite: u32 = "50" as "rwmixwrite" {
            min: Some(0),
            max: Some(100),
            good: &["0", "30", "100"],
            bad: &["101", "few"],
        }
        /// Where in each file the I/O begins.
        ///
        /// Bytes, a percentage of the file, or zones.
        offset: Amount = "0" as "offset" | "fileoffset" {
            zones: true,
            good: &["0", "1m", "20%", "4z"],
            bad: &["middle"],
        }
        /// Round the offset down to a multiple of this, where it is a percentage.
        offset_align: Bytes = "0" as "offset_align" {
            category: Category::IoPattern,
            min: Some(0),
            good: &["0", "4k"],
            bad: &["even"],
        }
        /// How much later each copy of the job begins than the one before.
        offset_increment: Amount = "0" as "offset_increment" {
            zones: true,
            good: &["0", "1g", "10%", "4z"],
            bad: &["some"],
        }
        /// End after this many I/Os, done or under way; 0 for no such limit.
        ///
        /// It does not make a job go on longer than its size.
        number_ios: u64 = "0" as "number_ios" {
            good: &["0", "1000", "1k"],
            bad: &["few"],
        }
        /// Share of I/Os at random places, in percent, for each direction.
        percentage_random: iosonde_options::Triple<u32> = "100" as "percentage_random" {
            category: Category::IoPattern,
            min: Some(0),
            max: Some(100),
            good: &["100", "50", "100,0,50"],
            bad: &["101", "half"],
        }
    }
}
