//! How many I/Os fly at once, and in what batches they go and come.

use iosonde_options::{Category, options};

use crate::values::SubmitMode;

options! {
    /// Depth
    pub struct DepthOptions in Category::IoBasic {
        /// Number of I/Os kept in flight.
        ///
        /// Engines that do one I/O at a time run at 1 whatever is asked, and say so.
        iodepth: u32 = "1" as "iodepth" {
            min: Some(1),
            good: &["1", "32", "0x10"],
            bad: &["0", "deep"],
        }
        /// Number of I/Os handed to the system in one go.
        iodepth_batch: u32 = "1" as "iodepth_batch" | "iodepth_batch_submit" {
            parent: Some("iodepth"),
            min: Some(0),
            good: &["1", "16"],
            bad: &["some"],
        }
        /// Least number of completions waited for in one go; 0 asks without waiting.
        iodepth_batch_complete_min: u32 = "1" as "iodepth_batch_complete_min" | "iodepth_batch_complete" {
            parent: Some("iodepth"),
            min: Some(0),
            good: &["0", "1", "8"],
            bad: &["some"],
        }
        /// Most completions taken in one go; as many as the least if not given.
        iodepth_batch_complete_max: Option<u32> = "" as "iodepth_batch_complete_max" {
            parent: Some("iodepth"),
            min: Some(0),
            good: &["0", "16"],
            bad: &["some"],
        }
        /// Once the depth is reached, let it fall to this before filling up again.
        iodepth_low: Option<u32> = "" as "iodepth_low" {
            parent: Some("iodepth"),
            min: Some(0),
            good: &["1", "16"],
            bad: &["shallow"],
        }
        /// Hold an I/O back while another one that overlaps it is in flight.
        serialize_overlap: bool = "0" as "serialize_overlap" {
            parent: Some("iodepth"),
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Who submits: the job itself, or a pool of as many threads as the depth says.
        ///
        /// Threads do one I/O each at a time, so that a slow submission holds no other back; their
        /// processor time is not the job's. Not for engines whose files have one position.
        io_submit_mode: SubmitMode = "inline" as "io_submit_mode" {
            good: &["inline", "offload"],
            bad: &["thread"],
        }
    }
}
