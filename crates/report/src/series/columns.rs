//! The run over time as documents have it: columns instead of an object for each window.

use super::{
    DeviceCounts, JobSeries, RunSeries, SeriesWindow, SyncCounts, WINDOWS_MOST, WindowCounts,
};
use crate::by_dir::ByDir;
use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_stats::CoarseCounts;
use serde::{Deserialize, Serialize};

/// The run over time: all jobs together, in windows of one length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesColumns {
    /// How long a window is.
    interval_ns: u64,
    /// How many there are, at most 600.
    windows: u64,
    /// How long the last one is, where that is not `interval_ns`: runs seldom end with a
    /// window.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_ns: Option<u64>,
    /// The longest latency of the run, which its last bucket begins below; 0 where it is not
    /// known.
    #[serde(skip_serializing_if = "is_zero")]
    latency_max_ns: u64,
    #[serde(flatten)]
    dirs: ByDir<DirColumns>,
    /// Syncs; missing where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    sync: Option<SyncColumns>,
    /// Data of the machine that waits to be written back, at the end of each window; missing
    /// for direct jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    dirty_bytes: Option<Vec<Option<u64>>>,
    /// What the devices directly below the files did, together; missing where there are
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<DeviceColumns>,
    /// Processor time of each window that the hypervisor took; of windows merged into one
    /// the largest. Missing where it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    steal_share: Option<Vec<Option<f64>>>,
    /// Each job over time, in at most 60 windows; empty for more than 64 jobs.
    jobs: Vec<JobSeries>,
}

/// One direction over time; null in a window that was not sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DirColumns {
    /// Bytes of each window.
    bytes: Vec<Option<u64>>,
    /// I/Os completed.
    ios: Vec<Option<u64>>,
    /// I/Os that failed.
    errors: Vec<Option<u64>>,
    /// Of each window: the number of the first bucket, then counts. Four buckets an octave
    /// from 64 ns on: bucket b begins at 2^(6 + (b-4) div 4) x (1 + ((b-4) mod 4) / 4) ns;
    /// buckets 0 to 3 are 16 ns wide.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "bucket, values")))]
    latency: Vec<Option<Vec<u64>>>,
}

/// Syncs over time; null in a window that was not sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SyncColumns {
    /// The longest of the run; 0 where it is not known.
    #[serde(skip_serializing_if = "is_zero")]
    latency_max_ns: u64,
    /// Syncs completed.
    ios: Vec<Option<u64>>,
    /// As of the directions.
    #[cfg_attr(feature = "schema", schemars(extend("unit" = "bucket, values")))]
    latency: Vec<Option<Vec<u64>>>,
}

/// The devices directly below the files over time, whoever used them; null in a window that
/// could not be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct DeviceColumns {
    /// Bytes read.
    read_bytes: Vec<Option<u64>>,
    /// Bytes written.
    written_bytes: Vec<Option<u64>>,
    /// Flushes of the write cache.
    flushes: Vec<Option<u64>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<RunSeries> for SeriesColumns {
    fn from(series: RunSeries) -> SeriesColumns {
        let windows = &series.windows;
        let is_used =
            |dir: Dir| windows.iter().any(|window| window.dirs[dir] != WindowCounts::default());
        SeriesColumns {
            interval_ns: series.interval_ns,
            windows: windows.len() as u64,
            last_ns: series.last_ns,
            latency_max_ns: series.latency_max_ns,
            dirs: ByDir::from_fn(|dir| is_used(dir).then(|| DirColumns::of(windows, dir))),
            sync: series.has_syncs().then(|| SyncColumns::of(&series)),
            dirty_bytes: column_of_any(windows, |window| window.dirty_bytes),
            device: windows.iter().any(|window| window.device.is_some()).then(|| {
                let column = |of: fn(&DeviceCounts) -> u64| {
                    windows.iter().map(|window| window.device.as_ref().map(of)).collect()
                };
                DeviceColumns {
                    read_bytes: column(|device| device.read_bytes),
                    written_bytes: column(|device| device.written_bytes),
                    flushes: column(|device| device.flushes),
                }
            }),
            steal_share: column_of_any(windows, |window| window.steal_share),
            jobs: series.jobs,
        }
    }
}

/// A column, where any window has a value.
fn column_of_any<T>(
    windows: &[SeriesWindow],
    of: impl Fn(&SeriesWindow) -> Option<T>,
) -> Option<Vec<Option<T>>> {
    let column: Vec<Option<T>> = windows.iter().map(of).collect();
    column.iter().any(Option::is_some).then_some(column)
}

impl DirColumns {
    fn of(windows: &[SeriesWindow], dir: Dir) -> DirColumns {
        let column = |of: fn(&WindowCounts) -> u64| -> Vec<Option<u64>> {
            windows.iter().map(|window| window.sampled.then(|| of(&window.dirs[dir]))).collect()
        };
        let latency =
            |window: &SeriesWindow| window.sampled.then(|| packed(&window.dirs[dir].latency));
        DirColumns {
            bytes: column(|counts| counts.bytes),
            ios: column(|counts| counts.ios),
            errors: column(|counts| counts.errors),
            latency: windows.iter().map(latency).collect(),
        }
    }

    /// The window at a place.
    fn window(&self, at: usize) -> WindowCounts {
        WindowCounts {
            bytes: cell(&self.bytes, at).unwrap_or(0),
            ios: cell(&self.ios, at).unwrap_or(0),
            errors: cell(&self.errors, at).unwrap_or(0),
            latency: unpacked(&self.latency, at),
        }
    }
}

impl SyncColumns {
    fn of(series: &RunSeries) -> SyncColumns {
        let windows = series.windows.iter();
        SyncColumns {
            latency_max_ns: series.sync_max_ns,
            ios: windows.clone().map(|one| one.sampled.then_some(one.syncs.ios)).collect(),
            latency: windows.map(|one| one.sampled.then(|| packed(&one.syncs.latency))).collect(),
        }
    }

    /// The window at a place.
    fn window(&self, at: usize) -> SyncCounts {
        SyncCounts { ios: cell(&self.ios, at).unwrap_or(0), latency: unpacked(&self.latency, at) }
    }
}

/// The number of the first bucket, then counts; empty without any.
fn packed(latency: &CoarseCounts) -> Vec<u64> {
    let (first, counts) = latency.parts();
    let first = (!counts.is_empty()).then_some(first as u64);
    first.into_iter().chain(counts.iter().copied()).collect()
}

fn unpacked(column: &[Option<Vec<u64>>], at: usize) -> CoarseCounts {
    let parts = column.get(at).and_then(|cell| cell.as_deref()?.split_first());
    parts.map(|(&first, counts)| CoarseCounts::new(first as usize, counts)).unwrap_or_default()
}

fn cell<T: Copy>(column: &[Option<T>], at: usize) -> Option<T> {
    column.get(at).copied().flatten()
}

impl From<SeriesColumns> for RunSeries {
    fn from(columns: SeriesColumns) -> RunSeries {
        let SeriesColumns { interval_ns, last_ns, latency_max_ns, jobs, .. } = columns;
        let SeriesColumns { windows, dirs, sync, dirty_bytes, device, steal_share, .. } = columns;
        let dirs = dirs.options();
        let (dirty, steal) = (dirty_bytes.unwrap_or_default(), steal_share.unwrap_or_default());
        // A column of a direction that did nothing is not there.
        let is_sampled = |at| dirs.0.iter().flatten().all(|dir| cell(&dir.bytes, at).is_some());
        let counts = |dir: Dir, at| dirs[dir].as_ref().filter(|_| is_sampled(at));
        let window = |at: usize| SeriesWindow {
            sampled: is_sampled(at),
            dirs: PerDir(
                DIRS.map(|dir| counts(dir, at).map(|dir| dir.window(at)).unwrap_or_default()),
            ),
            syncs: match &sync {
                Some(sync) if is_sampled(at) => sync.window(at),
                _ => SyncCounts::default(),
            },
            dirty_bytes: cell(&dirty, at),
            device: device.as_ref().and_then(|device| {
                Some(DeviceCounts {
                    read_bytes: cell(&device.read_bytes, at)?,
                    written_bytes: cell(&device.written_bytes, at)?,
                    flushes: cell(&device.flushes, at)?,
                })
            }),
            steal_share: cell(&steal, at),
        };
        // A document of anybody's may have any number.
        let windows = windows.min(WINDOWS_MOST as u64) as usize;
        let windows = (0..windows).map(window).collect();
        let sync_max_ns = sync.as_ref().map_or(0, |sync| sync.latency_max_ns);
        RunSeries { interval_ns, last_ns, latency_max_ns, sync_max_ns, windows, jobs }
    }
}
