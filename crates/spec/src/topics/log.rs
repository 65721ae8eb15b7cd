//! Logs: what each I/O, or each window of time, came to.

use iosonde_options::{Built, Bytes, Category, CpuSet, Millis, options};

use crate::values::LogWindowValue;

/// What the other options of this topic need to have an effect.
const LOGS: &[&str] = &["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"];

options! {
    /// Logs
    pub struct LogOptions in Category::Log {
        /// Log bandwidth to files that begin with this; with the job's name if left out.
        write_bw_log: Option<String> = "" as "write_bw_log" {
            bare: Some("$jobname"),
            good: &["run1"],
        }
        /// Log latencies to files that begin with this; with the job's name if left out.
        write_lat_log: Option<String> = "" as "write_lat_log" {
            bare: Some("$jobname"),
            good: &["run1"],
        }
        /// Log IOPS to files that begin with this; with the job's name if left out.
        write_iops_log: Option<String> = "" as "write_iops_log" {
            bare: Some("$jobname"),
            good: &["run1"],
        }
        /// Log histograms of completion latency to files that begin with this; with the job's name if left out.
        write_hist_log: Option<String> = "" as "write_hist_log" {
            bare: Some("$jobname"),
            good: &["run1"],
        }
        /// Put the job's number into names of logs, so that each job has its own.
        per_job_logs: bool = "1" as "per_job_logs" {
            needs: LOGS,
            good: &["0", "1"],
            bad: &["2", "no"],
        }
        /// Entries that memory is set aside for at first.
        log_entries: u32 = "1024" as "log_entries" {
            built: Built::Ignored("memory for entries is recycled while the job runs, not grown"),
            needs: LOGS,
            min: Some(1024),
            max: Some(1048576),
            good: &["1024", "4096"],
            bad: &["1023", "1048577", "many"],
        }
        /// Average the entries over windows of this many milliseconds; 0 for one an I/O.
        log_avg_msec: Millis = "0" as "log_avg_msec" {
            needs: LOGS,
            min: Some(0),
            good: &["0", "1000"],
            bad: &["long"],
        }
        /// Milliseconds between two histograms.
        log_hist_msec: Millis = "0" as "log_hist_msec" {
            needs: &["write_hist_log"],
            min: Some(0),
            good: &["0", "1000"],
            bad: &["long"],
        }
        /// Join bins of logged histograms: each step halves their number.
        log_hist_coarseness: u32 = "0" as "log_hist_coarseness" {
            needs: &["write_hist_log"],
            min: Some(0),
            good: &["0", "6"],
            bad: &["fine"],
        }
        /// What a window of a log keeps.
        log_window_value: LogWindowValue = "avg" as "log_window_value" | "log_max_value" {
            needs: LOGS,
            good: &["avg", "max", "both", "0", "1"],
            bad: &["2", "min"],
        }
        /// Log the offset of each I/O.
        log_offset: bool = "0" as "log_offset" {
            needs: LOGS,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Log the priority of each I/O.
        log_prio: bool = "0" as "log_prio" {
            needs: LOGS,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Log when each I/O was issued.
        log_issue_time: bool = "0" as "log_issue_time" {
            needs: LOGS,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Compress logs in memory, in pieces of this size.
        log_compression: Option<Bytes> = "" as "log_compression" {
            built: Built::Ignored("entries are written as they come, not kept in memory"),
            needs: LOGS,
            min: Some(1024),
            max: Some(536870912),
            good: &["1m", "64k"],
            bad: &["512", "1g", "much"],
        }
        /// Processors that compress logs.
        log_compression_cpus: Option<CpuSet> = "" as "log_compression_cpus" {
            parent: Some("log_compression"),
            good: &["0", "0-1"],
        }
        /// Leave logs compressed in their files.
        log_store_compressed: bool = "0" as "log_store_compressed" {
            needs: LOGS,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Log times since an epoch, not since the job began.
        log_alternate_epoch: bool = "0" as "log_alternate_epoch" | "log_unix_epoch" {
            needs: LOGS,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// The clock of that epoch (clock_gettime(2)); 0 is Unix time.
        log_alternate_epoch_clock_id: u32 = "0" as "log_alternate_epoch_clock_id" {
            needs: LOGS,
            min: Some(0),
            good: &["0", "1"],
            bad: &["first"],
        }
    }
}
