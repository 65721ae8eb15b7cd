//! The screen of a run in progress: plain data, and how it is drawn.

mod draw;
mod jobs;
mod json;
mod series;

pub use draw::{COLUMNS_LEAST, FINISHED, ROWS_LEAST, draw};
pub use json::object;

use crate::finding::Severity;
use iosonde_base::PerDir;
use iosonde_stats::CoarseCounts;
use std::sync::Arc;

/// A run at one moment, and over the last second.
#[derive(Clone, Debug, Default)]
pub struct LiveRun {
    /// What it does: `db: randrw 4k, io_uring, depth 8`.
    pub title: String,
    /// What it does that to: `/data/db (vda)`.
    pub target: String,
    /// What it is doing: `run`, `ramp`.
    pub phase: &'static str,
    /// Since it began.
    pub elapsed_s: u64,
    /// The share that is done, from 0 to 1, where that is known.
    pub done: Option<f64>,
    /// Seconds left, where that is known.
    pub left_s: Option<u64>,
    /// The last second of each direction in use.
    pub dirs: PerDir<Option<LiveRate>>,
    /// The last second of syncs, if there were any in the run.
    pub syncs: Option<LiveRate>,
    /// Windows of a second, the last one at the end.
    pub windows: Vec<Arc<LiveWindow>>,
    /// Where the bytes went.
    pub places: LivePlaces,
    /// Queue depth of all jobs: requested.
    pub depth_requested: u64,
    /// Mean of the last second.
    pub depth_observed: Option<f64>,
    /// Mean of the last second at the devices.
    pub depth_at_device: Option<f64>,
    /// Processor time of the last second, in processors: user, system.
    pub cpu: Option<[f64; 2]>,
    /// Findings so far, worst first.
    pub findings: Vec<LiveFinding>,
    /// The jobs, in order.
    pub jobs: Vec<LiveJob>,
    /// How many of them run.
    pub jobs_running: usize,
}

/// A direction in the last second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveRate {
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// p50, p99 and p99.9 in nanoseconds; `None` without I/Os or histograms.
    pub percentiles_ns: Option<[u64; 3]>,
    /// The longest, in nanoseconds.
    pub max_ns: Option<u64>,
    /// I/Os that failed, of the whole run.
    pub errors: u64,
}

/// A second of the past.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveWindow {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Durations of I/Os.
    pub latency: CoarseCounts,
    /// Their 99th percentile.
    pub p99_ns: Option<u64>,
}

/// Where the bytes went, so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LivePlaces {
    /// The share of reads that came from the page cache.
    pub reads_from_memory: Option<f64>,
    /// Bytes written that are only in memory.
    pub only_in_memory: Option<u64>,
    /// Bytes written.
    pub written: u64,
    /// Of each device, bytes read and written.
    pub devices: Vec<(String, [u64; 2])>,
}

/// A finding.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct LiveFinding {
    pub id: String,
    pub severity: Severity,
    pub text: String,
}

/// A job in the last second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveJob {
    /// Its label, which no other job has.
    pub name: String,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Whether it does I/O.
    pub is_running: bool,
    /// Whether it has ended with an error.
    pub has_failed: bool,
}

/// What of the run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LiveView {
    /// A little of everything.
    #[default]
    Overview,
    /// All jobs, the slowest first.
    Jobs,
    /// Durations over time.
    HeatMap,
    /// The keys.
    Help,
}

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenStyle {
    /// Colours.
    pub colour: bool,
    /// Characters outside of ASCII.
    pub unicode: bool,
    /// Keys are read.
    pub keys: bool,
    /// Nothing is drawn anew for now.
    pub paused: bool,
}

#[cfg(test)]
mod tests;
