//! Options that fio has retired: known, so that a job file that names one gets an answer.

use iosonde_options::{Built, Category, options};

options! {
    /// Retired
    pub struct RetiredOptions in Category::General {
        /// Retired: percentage of sequential I/Os in a random job.
        percentage_sequential: u32 = "0" as "percentage_sequential" {
            built: Built::No,
            deprecated: Some("use percentage_random"),
        }
        /// Retired: number of I/Os between two changes of direction.
        rwmixcycle: u32 = "0" as "rwmixcycle" {
            built: Built::No,
            deprecated: Some("leave it out"),
        }
        /// Retired: verify blocks in the order of their offsets.
        verifysort: bool = "1" as "verifysort" {
            built: Built::Ignored("fio ignores it too"),
            deprecated: Some("leave it out"),
            good: &["0", "1"],
            bad: &[],
        }
        /// Retired: number of blocks that are sorted at once.
        verifysort_nr: u32 = "1024" as "verifysort_nr" {
            built: Built::Ignored("fio ignores it too"),
            deprecated: Some("leave it out"),
            good: &["1024"],
        }
        /// Retired: how far jobs of a flow may drift apart.
        flow_watermark: u32 = "1024" as "flow_watermark" {
            built: Built::Ignored("fio ignores it too"),
            deprecated: Some("leave it out"),
            good: &["1024"],
        }
    }
}
