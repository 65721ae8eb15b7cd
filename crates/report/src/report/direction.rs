//! One direction of a job: bytes, I/Os, latencies, rates of windows; and what goes with it.

use crate::latency::LatencyReport;

/// One direction of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirReport {
    /// Bytes moved.
    pub io_bytes: u64,
    /// How long this direction ran.
    pub runtime_ms: u64,
    /// I/Os that ended, well or not. fio's formats call these issued.
    pub issued_ios: u64,
    /// I/Os that were gone over and not done (`verify_only`). fio's formats call these issued,
    /// too.
    pub gone_over_ios: u64,
    /// I/Os completed.
    pub total_ios: u64,
    /// I/Os that moved less than asked.
    pub short_ios: u64,
    /// I/Os given up.
    pub drop_ios: u64,
    /// Start to issue.
    pub slat: LatencyReport,
    /// Issue to completion.
    pub clat: LatencyReport,
    /// Start to completion.
    pub lat: LatencyReport,
    /// By priority; empty unless two or more had I/O.
    pub prios: Vec<PrioReport>,
    /// Bandwidth of windows, in KiB/s.
    pub bw_kib: WindowReport,
    /// This job's share of its group's bandwidth, in percent, at most 100.
    pub bw_agg_percent: f64,
    /// I/Os per second of windows.
    pub iops_windows: WindowReport,
    /// Share of I/Os that the page cache answered, in percent.
    pub cachehit_percent: Option<f64>,
    /// Zones reset (write only), with `zonemode=zbd`.
    pub zone_resets: Option<u64>,
}

impl DirReport {
    /// Bytes per second over the whole run time, rounded down.
    pub fn bw_bytes_per_s(&self) -> u64 {
        per_second(self.io_bytes, self.runtime_ms)
    }

    /// The latency that is reported: the total latency where its percentiles
    /// were kept. The completion latency begins when a submission returns, and
    /// may be over by then.
    pub fn shown_latency(&self) -> &LatencyReport {
        if self.clat.n == 0 || self.lat.quick.is_some() { &self.lat } else { &self.clat }
    }

    /// I/Os per second over the whole run time.
    pub fn iops(&self) -> f64 {
        if self.runtime_ms == 0 {
            0.0
        } else {
            self.total_ios as f64 * 1000.0 / self.runtime_ms as f64
        }
    }
}

/// `n` in `ms` milliseconds as a rate per second, rounded down.
pub(crate) fn per_second(n: u64, ms: u64) -> u64 {
    if ms == 0 { 0 } else { (u128::from(n) * 1000 / u128::from(ms)) as u64 }
}

/// The latency of the I/Os of one priority.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrioReport {
    /// I/O priority class: 0 none, 1 real time, 2 best effort, 3 idle.
    pub class: u32,
    /// Level within the class.
    pub level: u32,
    /// I/O hint.
    pub hint: u32,
    /// Issue to completion, or start to completion where the job keeps that.
    pub latency: LatencyReport,
}

/// Rates of windows of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct WindowReport {
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    pub stddev: f64,
    pub samples: u64,
}

/// fsync, fdatasync, sync_file_range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncReport {
    /// How many.
    pub total_ios: u64,
    /// Issue to completion.
    pub lat: LatencyReport,
}

/// How deep the queue was, and how much went down and came back at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthReport {
    /// I/Os by depth: 1, 2, 4, 8, 16, 32, 64 and more.
    pub level: [u64; 7],
    /// Submissions by size: 0, 4, 8, 16, 32, 64, more.
    pub submit: [u64; 7],
    /// Collections by size; classes as for `submit`.
    pub complete: [u64; 7],
    /// How many submissions.
    pub submits: u64,
    /// How many collections.
    pub completes: u64,
}
