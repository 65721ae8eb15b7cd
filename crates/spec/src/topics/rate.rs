//! How fast a job may go, and how fast it must.

use iosonde_options::{Bytes, Category, Millis, Triple, options};

use crate::values::RateProcess;

options! {
    /// Rate
    pub struct RateOptions in Category::Rate {
        /// Limit bandwidth, in bytes per second, for each direction; 0 for no limit.
        rate: Triple<Bytes> = "0" as "rate" {
            min: Some(0),
            good: &["1m", "1m,500k", ",500k"],
        }
        /// End the job if its bandwidth falls below this.
        rate_min: Triple<Bytes> = "0" as "rate_min" | "ratemin" {
            parent: Some("rate"),
            needs: &["rate_min"],
            min: Some(0),
            with: &["rate=2m"],
            good: &["1m", "1m,500k"],
        }
        /// Limit IOPS for each direction; 0 for no limit.
        rate_iops: Triple<u32> = "0" as "rate_iops" {
            min: Some(0),
            good: &["1000", "1k,500"],
        }
        /// End the job if its IOPS fall below this.
        rate_iops_min: Triple<u32> = "0" as "rate_iops_min" {
            parent: Some("rate_iops"),
            needs: &["rate_iops_min"],
            min: Some(0),
            with: &["rate_iops=2000"],
            good: &["1000", "1k,500"],
        }
        /// Distribution of the gaps between rate-limited I/Os.
        rate_process: RateProcess = "linear" as "rate_process" {
            parent: Some("rate"),
            needs: &["rate", "rate_iops"],
            with: &["rate=2m"],
            good: &["linear", "poisson"],
        }
        /// Averaging window for `rate_min` and `rate_iops_min`, in milliseconds.
        rate_cycle: Millis = "1000" as "rate_cycle" | "ratecycle" {
            parent: Some("rate"),
            needs: &["rate_min", "rate_iops_min"],
            min: Some(0),
            with: &["rate=2m", "rate_min=1m"],
            good: &["1000"],
        }
        /// Do not count think time as time at the rate: catch up after each pause.
        rate_ignore_thinktime: bool = "0" as "rate_ignore_thinktime" {
            parent: Some("rate"),
            needs: &["rate", "rate_iops"],
            with: &["rate=2m"],
        }
    }
}
