//! Logs: what each I/O, or each window of time, came to.

use iosonde_options::{Built, Bytes, Category, CpuSet, Millis, options};

use crate::values::LogWindowValue;

/// The other options of this topic need one of these to have an effect.
const LOGS: &[&str] = &["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"];

options! {
    /// Logs
    pub struct LogOptions in Category::Log {
        /// Log bandwidth to files with this prefix; default: the job's name.
        write_bw_log: Option<String> = "" as "write_bw_log" {
            bare: Some("$jobname"),
            good: &["run1"],
        }
        /// Log latencies to files with this prefix; default: the job's name.
        write_lat_log: Option<String> = "" as "write_lat_log" {
            bare: Some("$jobname"),
            good: &["run1"],
        }
        /// Log IOPS to files with this prefix; default: the job's name.
        write_iops_log: Option<String> = "" as "write_iops_log" {
            bare: Some("$jobname"),
            good: &["run1"],
        }
        /// Log histograms of completion latency to files with this prefix; default: the job's name.
        write_hist_log: Option<String> = "" as "write_hist_log" {
            bare: Some("$jobname"),
            good: &["run1"],
        }
        /// Include the job number in log names, so that each job has its own log.
        per_job_logs: bool = "1" as "per_job_logs" {
            needs: LOGS,
            with: &["write_bw_log=run1"],
        }
        /// Number of entries to allocate memory for at first.
        log_entries: u32 = "1024" as "log_entries" {
            built: Built::Ignored("memory for log entries is reused while the job runs"),
            needs: LOGS,
            min: Some(1024),
            max: Some(1048576),
            with: &["write_bw_log=run1"],
            good: &["1024", "4096"],
            bad: &["1023", "1048577", "many"],
        }
        /// Average log entries over this many milliseconds; 0 for one entry per I/O.
        log_avg_msec: Millis = "0" as "log_avg_msec" {
            needs: LOGS,
            min: Some(0),
            with: &["write_bw_log=run1"],
            good: &["0", "1000"],
        }
        /// Interval between histograms, in milliseconds.
        log_hist_msec: Millis = "0" as "log_hist_msec" {
            needs: &["write_hist_log"],
            min: Some(0),
            with: &["write_hist_log=run1"],
            good: &["0", "1000"],
        }
        /// Resolution of logged histograms: each step halves the number of bins.
        log_hist_coarseness: u32 = "0" as "log_hist_coarseness" {
            needs: &["write_hist_log"],
            min: Some(0),
            max: Some(6),
            with: &["write_hist_log=run1", "log_hist_msec=1000"],
            good: &["0", "6"],
            bad: &["7", "fine"],
        }
        /// Value that is logged for a window.
        log_window_value: LogWindowValue = "avg" as "log_window_value" | "log_max_value" {
            needs: LOGS,
            with: &["write_bw_log=run1", "log_avg_msec=1000"],
            good: &["avg", "max", "both", "0", "1"],
            bad: &["2", "min"],
        }
        /// Log the offset of each I/O.
        log_offset: bool = "0" as "log_offset" {
            needs: LOGS,
            with: &["write_bw_log=run1"],
        }
        /// Log the priority of each I/O.
        log_prio: bool = "0" as "log_prio" {
            needs: LOGS,
            with: &["write_bw_log=run1"],
        }
        /// Log when each I/O was issued.
        log_issue_time: bool = "0" as "log_issue_time" {
            needs: LOGS,
            with: &["write_bw_log=run1"],
        }
        /// Compress logs in memory, in chunks of this size.
        log_compression: Option<Bytes> = "" as "log_compression" {
            built: Built::Ignored("entries are written as they are collected, not kept in memory"),
            needs: LOGS,
            min: Some(1024),
            max: Some(536870912),
            with: &["write_bw_log=run1"],
            good: &["1m", "64k"],
            bad: &["512", "1g", "much"],
        }
        /// CPUs that compress logs.
        log_compression_cpus: Option<CpuSet> = "" as "log_compression_cpus" {
            parent: Some("log_compression"),
            with: &["write_bw_log=run1", "log_compression=1m"],
            good: &["0", "0-1"],
        }
        /// Store logs compressed.
        log_store_compressed: bool = "0" as "log_store_compressed" {
            needs: LOGS,
            with: &["write_bw_log=run1", "log_compression=1m"],
        }
        /// Log times since the epoch of a clock, not since the start of the job.
        log_alternate_epoch: bool = "0" as "log_alternate_epoch" | "log_unix_epoch" {
            needs: LOGS,
            with: &["write_bw_log=run1"],
        }
        /// The clock of that epoch (clock_gettime(2)); 0 for Unix time.
        log_alternate_epoch_clock_id: u32 = "0" as "log_alternate_epoch_clock_id" {
            needs: LOGS,
            min: Some(0),
            with: &["write_bw_log=run1", "log_alternate_epoch=1"],
            good: &["0", "1"],
        }
    }
}
