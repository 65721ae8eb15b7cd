//! What is measured, and how it is reported.

use iosonde_options::{Built, Category, FloatList, Millis, options};

use crate::values::UnifiedReporting;

options! {
    /// Measurements
    pub struct MeasureOptions in Category::Stat {
        /// Collect statistics.
        stats: bool = "1" as "stats" {}
        /// Report percentiles of completion latency.
        clat_percentiles: bool = "1" as "clat_percentiles" {}
        /// Report percentiles of total latency.
        lat_percentiles: bool = "0" as "lat_percentiles" {}
        /// Report percentiles of submission latency.
        slat_percentiles: bool = "0" as "slat_percentiles" {}
        /// Percentiles to report, separated by colons; 20 at most.
        percentile_list: FloatList =
            "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99" as "percentile_list" {
            min: Some(0),
            max: Some(100),
            good: &["50:90:99.9", "99.99"],
            bad: &["101", "a:b", "-1"],
        }
        /// Significant digits of the numbers in the normal report.
        significant_figures: u32 = "4" as "significant_figures" {
            min: Some(1),
            max: Some(10),
            good: &["1", "4", "10"],
            bad: &["0", "11", "all"],
        }
        /// Report statistics of the disks under the files.
        disk_util: bool = "1" as "disk_util" {}
        /// Minimize clock reads: do not measure latencies or sample bandwidth.
        ///
        /// The same as `disable_lat`, `disable_clat`, `disable_slat` and
        /// `disable_bw_measurement`, unless those are given.
        gtod_reduce: bool = "0" as "gtod_reduce" {}
        /// Do not measure total latency.
        disable_lat: bool = "0" as "disable_lat" {
            parent: Some("gtod_reduce"),
        }
        /// Do not measure completion latency.
        disable_clat: bool = "0" as "disable_clat" {
            parent: Some("gtod_reduce"),
        }
        /// Do not measure submission latency.
        disable_slat: bool = "0" as "disable_slat" {
            parent: Some("gtod_reduce"),
        }
        /// Do not take samples of bandwidth.
        disable_bw_measurement: bool = "0" as "disable_bw_measurement" | "disable_bw" {
            parent: Some("gtod_reduce"),
        }
        /// Dedicate a CPU to reading the clock.
        gtod_cpu: Option<u32> = "" as "gtod_cpu" {
            built: Built::Ignored("each job reads the CPU's counter, which costs a few nanoseconds"),
            min: Some(0),
            good: &["0", "1"],
        }
        /// Report all directions as one.
        unified_rw_reporting: UnifiedReporting = "none" as "unified_rw_reporting" {
            good: &["none", "mixed", "both", "0", "1", "2"],
            bad: &["3", "all"],
        }
        /// Window of a bandwidth sample, in milliseconds.
        bwavgtime: Millis = "500" as "bwavgtime" {
            min: Some(0),
            good: &["500", "1000"],
        }
        /// Window of an IOPS sample, in milliseconds.
        iopsavgtime: Millis = "500" as "iopsavgtime" {
            min: Some(0),
            good: &["500", "1000"],
        }
        /// Report percentiles of block errors of trims.
        block_error_percentiles: bool = "0" as "block_error_percentiles" {
            built: Built::No,
        }
    }
}
