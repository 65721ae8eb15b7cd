//! How many I/Os are in flight, and the batches in which they are submitted and reaped.

use iosonde_options::{Category, options};

use crate::values::SubmitMode;

options! {
    /// Depth
    pub struct DepthOptions in Category::IoBasic {
        /// Number of I/Os kept in flight.
        ///
        /// Synchronous engines run at depth 1; a note reports it.
        iodepth: u32 = "1" as "iodepth" {
            min: Some(1),
            with: &["ioengine=libaio"],
            good: &["1", "32", "0x10"],
            bad: &["0", "deep"],
        }
        /// Number of I/Os submitted in one batch; 0 for the I/O depth.
        iodepth_batch: u32 = "1" as "iodepth_batch" | "iodepth_batch_submit" {
            parent: Some("iodepth"),
            min: Some(0),
            with: &["ioengine=libaio", "iodepth=16"],
            good: &["1", "16"],
        }
        /// Minimum number of completions to wait for in one batch; 0 to poll without waiting.
        iodepth_batch_complete_min: u32 = "1" as "iodepth_batch_complete_min" | "iodepth_batch_complete" {
            parent: Some("iodepth"),
            min: Some(0),
            with: &["ioengine=libaio", "iodepth=16"],
            good: &["0", "1", "8"],
        }
        /// Maximum number of completions reaped in one batch; default: the minimum.
        iodepth_batch_complete_max: Option<u32> = "" as "iodepth_batch_complete_max" {
            parent: Some("iodepth"),
            min: Some(0),
            with: &["ioengine=libaio", "iodepth=16"],
            good: &["0", "16"],
        }
        /// Once the depth is reached, drain to this depth before filling the queue again.
        iodepth_low: Option<u32> = "" as "iodepth_low" {
            parent: Some("iodepth"),
            min: Some(0),
            with: &["ioengine=libaio", "iodepth=16"],
            good: &["1", "16"],
        }
        /// Delay an I/O while an overlapping one is in flight.
        serialize_overlap: bool = "0" as "serialize_overlap" {
            parent: Some("iodepth"),
            with: &["ioengine=libaio", "iodepth=16"],
        }
        /// Submit I/Os from the job's thread, or from a pool of `iodepth` threads.
        ///
        /// Each thread of the pool does one I/O at a time, so that a slow submission delays no
        /// other. Their CPU time is not counted as the job's. Not available for engines that
        /// depend on the file position.
        io_submit_mode: SubmitMode = "inline" as "io_submit_mode" {
            with: &["ioengine=libaio", "iodepth=16"],
            good: &["inline", "offload"],
        }
    }
}
