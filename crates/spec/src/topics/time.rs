//! When a job starts, when it ends, and which clock says so.

use iosonde_base::Nanos;
use iosonde_options::{Built, Bytes, Category, FioSupport, SpanRange, options};

use crate::values::ClockWord;

options! {
    /// Time
    pub struct TimeOptions in Category::Runtime {
        /// Start this long after the run does; of a range, each copy draws its own.
        startdelay: SpanRange = "0" as "startdelay" {
            fio: FioSupport::Differs("both ends of a range may have a unit; fio reads the first as microseconds then"),
            good: &["0", "10", "500ms", "1-5"],
            bad: &["later"],
        }
        /// End after this time, even if there is more to do; 0 for no such limit.
        ///
        /// Counts from the end of the ramp.
        runtime: Nanos = "0" as "runtime" | "timeout" {
            good: &["10", "10s", "500ms", "2m", "1h"],
            bad: &["long"],
        }
        /// Go on until `runtime` is over, starting again where there is nothing left to do.
        time_based: bool = "0" as "time_based" {
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Run this long before measuring.
        ramp_time: Nanos = "0" as "ramp_time" {
            good: &["0", "5", "500ms"],
            bad: &["short"],
        }
        /// Move this many bytes before measuring; with `group_reporting` the group as a whole.
        ramp_size: Bytes = "0" as "ramp_size" {
            good: &["0", "1g"],
            bad: &["some"],
        }
        /// Which clock times I/Os.
        clocksource: Option<ClockWord> = "" as "clocksource" {
            built: Built::Ignored(
                "the processor's counter times I/Os where it is steady, clock_gettime(2) elsewhere"
            ),
            good: &["clock_gettime", "gettimeofday", "cpu"],
            bad: &["sundial"],
        }
        /// Which clock `job_start` in reports is read from (clock_gettime(2)).
        job_start_clock_id: u32 = "0" as "job_start_clock_id" {
            min: Some(0),
            good: &["0", "1"],
            bad: &["first"],
        }
    }
}
