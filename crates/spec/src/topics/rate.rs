//! How fast a job may go, and how fast it must.

use iosonde_options::{Bytes, Category, Millis, Triple, options};

use crate::values::RateProcess;

options! {
    /// Rate
    pub struct RateOptions in Category::Rate {
        /// Cap bandwidth, in bytes per second, for each direction; 0 for no cap.
        rate: Triple<Bytes> = "0" as "rate" {
            min: Some(0),
            good: &["1m", "1m,500k", ",500k"],
            bad: &["fast"],
        }
        /// End the job when its bandwidth falls below this.
        rate_min: Triple<Bytes> = "0" as "rate_min" | "ratemin" {
            parent: Some("rate"),
            needs: &["rate_min"],
            min: Some(0),
            good: &["1m", "1m,500k"],
            bad: &["slow"],
        }
        /// Cap I/Os per second, for each direction; 0 for no cap.
        rate_iops: Triple<u32> = "0" as "rate_iops" {
            min: Some(0),
            good: &["1000", "1k,500"],
            bad: &["fast"],
        }
        /// End the job when it does fewer I/Os per second than this.
        rate_iops_min: Triple<u32> = "0" as "rate_iops_min" {
            parent: Some("rate_iops"),
            needs: &["rate_iops_min"],
            min: Some(0),
            good: &["1000", "1k,500"],
            bad: &["slow"],
        }
        /// How the gaps between paced I/Os are drawn.
        rate_process: RateProcess = "linear" as "rate_process" {
            parent: Some("rate"),
            needs: &["rate", "rate_iops"],
            good: &["linear", "poisson"],
            bad: &["even"],
        }
        /// Window over which `rate_min` and `rate_iops_min` are judged, in milliseconds.
        rate_cycle: Millis = "1000" as "rate_cycle" | "ratecycle" {
            parent: Some("rate"),
            needs: &["rate_min", "rate_iops_min"],
            min: Some(0),
            good: &["1000"],
            bad: &["long"],
        }
        /// Catch up on think time: do not count it as time at the rate.
        rate_ignore_thinktime: bool = "0" as "rate_ignore_thinktime" {
            parent: Some("rate"),
            needs: &["rate", "rate_iops"],
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
    }
}
