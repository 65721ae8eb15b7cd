//! Shares of I/O between jobs.

use iosonde_options::{Category, options};

options! {
    /// Flow
    pub struct FlowOptions in Category::Rate {
        /// The group of jobs that share.
        flow_id: u32 = "0" as "flow_id" {
            needs: &["flow"],
            min: Some(0),
            good: &["0", "1"],
            bad: &["first"],
        }
        /// This job's share of its group's I/Os, relative to the others'; 0 for no share.
        flow: u32 = "0" as "flow" {
            min: Some(0),
            max: Some(1000),
            good: &["0", "8"],
            bad: &["1001", "much"],
        }
        /// Sleep this long before asking again whether the share is used up; microseconds.
        flow_sleep: u32 = "0" as "flow_sleep" {
            needs: &["flow"],
            min: Some(0),
            good: &["0", "100"],
            bad: &["short"],
        }
    }
}
