//! When a job starts, when it ends, and which clock says so.

use iosonde_base::Nanos;
use iosonde_options::{Built, Bytes, Category, FioSupport, SpanRange, options};

use crate::values::ClockWord;

options! {
    /// Time
    pub struct TimeOptions in Category::Runtime {
        /// Delay the start of the job; of a range, each clone draws its own delay.
        startdelay: SpanRange = "0" as "startdelay" {
            fio: FioSupport::Differs("both ends of a range may have a unit; fio then reads the first in microseconds"),
            good: &["0", "10", "500ms", "1-5"],
        }
        /// End after this time, even if there is more I/O to do; 0 for no limit.
        ///
        /// Counted from the end of `ramp_time`.
        runtime: Nanos = "0" as "runtime" | "timeout" {
            good: &["10", "10s", "500ms", "2m", "1h"],
        }
        /// Run for all of `runtime`, repeating the job as often as needed.
        time_based: bool = "0" as "time_based" {
            bare: Some("1"),
            with: &["runtime=10"],
        }
        /// At the end of `runtime`, go on until each job has done as many I/Os as the fastest had then.
        ///
        /// As stonewalling with wear-out in IOR, mdtest and IO500: all jobs with it that run
        /// together, on all hosts, have the same number of I/Os in the end, or fewer where `size`
        /// ends a job before. The run lasts until the last one is done.
        wear_out: bool = "0" as "wear_out" {
            fio: FioSupport::OursAlone,
            bare: Some("1"),
            with: &["runtime=10"],
        }
        /// Run this long before statistics are collected.
        ramp_time: Nanos = "0" as "ramp_time" {
            good: &["0", "5", "500ms"],
        }
        /// Do this many bytes of I/O before statistics are collected; with `group_reporting` all jobs together.
        ramp_size: Bytes = "0" as "ramp_size" {
            good: &["0", "1g"],
        }
        /// The clock that times I/Os.
        clocksource: Option<ClockWord> = "" as "clocksource" {
            built: Built::Ignored(
                "the CPU's time stamp counter is used where it is invariant, clock_gettime(2) elsewhere"
            ),
            good: &["clock_gettime", "gettimeofday", "cpu"],
        }
        /// The clock of `job_start` in reports (clock_gettime(2)).
        job_start_clock_id: u32 = "0" as "job_start_clock_id" {
            min: Some(0),
            good: &["0", "1"],
        }
    }
}
