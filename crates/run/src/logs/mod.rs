//! Logs of a job: what each I/O, or each window of time, came to.
//!
//! The job's thread closes windows between slices, or leaves a record of each
//! I/O on a tape; a thread of the job's own makes text of them and writes it as
//! it comes. Where an I/O takes so long that windows pass meanwhile, that
//! thread closes them in the job's place.

pub mod inflate;
mod job_logs;
pub(crate) mod lines;
mod open_windows;
pub(crate) mod sink;
mod windows;
mod writer;

pub(crate) use job_logs::{JobLogs, Waits};
pub use open_windows::LogWriteError;

use iosonde_base::{Nanos, PerDir};
use iosonde_sys::clock::SystemClock;
use iosonde_sys::cpu::CpuList;
use std::path::PathBuf;

/// Quantity of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// Bandwidth: KiB/s of a window, kB/s of one I/O.
    Bandwidth,
    /// I/Os per second of a window; 1 for one I/O.
    Iops,
    /// Submission latency in nanoseconds.
    Slat,
    /// Completion latency in nanoseconds.
    Clat,
    /// Total latency in nanoseconds.
    Lat,
}

impl LogKind {
    /// As names of logs have it.
    pub const fn word(self) -> &'static str {
        match self {
            LogKind::Bandwidth => "bw",
            LogKind::Iops => "iops",
            LogKind::Slat => "slat",
            LogKind::Clat => "clat",
            LogKind::Lat => "lat",
        }
    }
}

/// Value of a window of a latency log (`log_window_value`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// The mean.
    Average,
    /// The largest.
    Max,
    /// The mean, and the largest in a column more.
    Both,
}

/// How a line ends: fio's last columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogColumns {
    /// The offset is printed.
    pub offset: bool,
    /// When the I/O was issued is printed.
    pub issue_time: bool,
    /// Priority of the job's I/O, as ioprio_set(2) has it.
    pub priority: u16,
    /// The whole priority is printed, not only whether it is of the real-time class.
    pub whole_priority: bool,
}

/// `write_hist_log`.
#[derive(Clone, Debug)]
pub struct HistogramPlan {
    /// The file.
    pub path: PathBuf,
    /// Length of a window; zero leaves the file empty.
    pub every: Nanos,
    /// 1856 columns are joined to so many fewer, by powers of two.
    pub coarseness: u32,
    /// Printed as block size: the largest of each direction.
    pub block: PerDir<u32>,
}

/// The logs of one job, decided.
#[derive(Clone, Debug)]
pub struct LogsPlan {
    /// Files with a line for each I/O or window.
    pub files: Vec<(LogKind, PathBuf)>,
    /// Files that are made and stay empty, as fio's do for what the engine
    /// cannot distinguish.
    pub empty: Vec<PathBuf>,
    /// Length of a window; zero for a line an I/O.
    pub every: Nanos,
    /// Value of a window of a latency log.
    pub value: Value,
    /// The last columns.
    pub columns: LogColumns,
    /// Histograms.
    pub histogram: Option<HistogramPlan>,
    /// Several jobs share the files: what is there is kept.
    pub append: bool,
    /// Files hold their text compressed (zlib).
    pub compressed: bool,
    /// Times are those of this clock of clock_gettime(2), not since the start.
    pub epoch: Option<u32>,
    /// Processors that compress.
    pub cpus: Option<CpuList>,
    /// Bytes that records may take before they are written.
    pub memory: usize,
}

/// The clock of clock_gettime(2) with this number, if it may be an epoch.
pub fn epoch_clock(id: u32) -> Option<SystemClock> {
    /// BOOTTIME: those after it are alarms.
    const LAST: u32 = 7;
    (id <= LAST).then(|| SystemClock::numbered(id))?
}

impl LogsPlan {
    /// Whether there is a line for each I/O.
    pub fn each_io(&self) -> bool {
        self.every == Nanos(0) && !self.files.is_empty()
    }
}
