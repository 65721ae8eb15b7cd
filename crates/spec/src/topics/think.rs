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
        }
        /// Part of the pause that is spent spinning rather than sleeping; in microseconds.
        thinktime_spin: Nanos = "0" as "thinktime_spin" {
            parent: Some("thinktime"),
            unit: TimeUnit::Micros,
            with: &["thinktime=100"],
            good: &["0", "100", "10ms"],
        }
        /// Spin for this many cycles in each pause.
        thinkcycles: u32 = "0" as "thinkcycles" {
            parent: Some("thinktime"),
            min: Some(0),
            with: &["thinktime=100"],
            good: &["0", "1000"],
        }
        /// Number of I/Os between two pauses.
        thinktime_blocks: u32 = "1" as "thinktime_blocks" {
            parent: Some("thinktime"),
            min: Some(0),
            with: &["thinktime=100"],
            good: &["1", "16"],
        }
        /// Count these I/Os when they are issued or when they complete.
        thinktime_blocks_type: ThinkBlocksType = "complete" as "thinktime_blocks_type" {
            parent: Some("thinktime"),
            with: &["thinktime=100"],
            good: &["complete", "issue"],
        }
        /// Pause also after this much time of I/O.
        thinktime_iotime: Nanos = "0" as "thinktime_iotime" {
            parent: Some("thinktime"),
            with: &["thinktime=100"],
            good: &["0", "1", "500ms"],
        }
    }
}
