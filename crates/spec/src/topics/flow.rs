//! Shares of I/O between jobs.

use iosonde_options::{Category, options};

options! {
    /// Flow
    pub struct FlowOptions in Category::Rate {
        /// The flow group that the job belongs to.
        flow_id: u32 = "0" as "flow_id" {
            needs: &["flow"],
            min: Some(0),
            with: &["flow=8"],
            good: &["0", "1"],
        }
        /// Weight of the job within its flow group; 0 for no flow control.
        flow: u32 = "0" as "flow" {
            min: Some(0),
            max: Some(1000),
            good: &["0", "8"],
            bad: &["1001", "much"],
        }
        /// Sleep this long when the job is ahead of its share; in microseconds.
        flow_sleep: u32 = "0" as "flow_sleep" {
            needs: &["flow"],
            min: Some(0),
            with: &["flow=8"],
            good: &["0", "100"],
        }
    }
}
