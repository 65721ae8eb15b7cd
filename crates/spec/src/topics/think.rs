//! Pauses between I/Os.

use iosonde_base::Nanos;
use iosonde_options::{Category, TimeUnit, options};

use crate::values::ThinkBlocksType;

options! {
    /// Think time
    pub struct ThinkOptions in Category::Rate {
        /// Pause this long after every `thinktime_blocks` I/Os; in microseconds.
        thinktime: Nanos = "0" as "thinktime" {
            unit: TimeUnit::Micros,
            good: &["0", "100", "10ms"],
            bad: &["short"],
        }
        /// Spend this much of the pause spinning rather than asleep; in microseconds.
        thinktime_spin: Nanos = "0" as "thinktime_spin" {
            parent: Some("thinktime"),
            unit: TimeUnit::Micros,
            good: &["0", "100", "10ms"],
            bad: &["short"],
        }
        /// Spend the pause on so many processor cycles.
        thinkcycles: u32 = "0" as "thinkcycles" {
            parent: Some("thinktime"),
            min: Some(0),
            good: &["0", "1000"],
            bad: &["some"],
        }
        /// I/Os between two pauses.
        thinktime_blocks: u32 = "1" as "thinktime_blocks" {
            parent: Some("thinktime"),
            min: Some(0),
            good: &["1", "16"],
            bad: &["few"],
        }
        /// Whether those I/Os count as they are issued or as they complete.
        thinktime_blocks_type: ThinkBlocksType = "complete" as "thinktime_blocks_type" {
            parent: Some("thinktime"),
            good: &["complete", "issue"],
            bad: &["both"],
        }
        /// Pause after this much time of I/O, besides the count of I/Os.
        thinktime_iotime: Nanos = "0" as "thinktime_iotime" {
            parent: Some("thinktime"),
            good: &["0", "1", "500ms"],
            bad: &["long"],
        }
    }
}
