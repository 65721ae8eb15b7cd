//! A run over time: bytes, I/Os and latencies of windows.
//!
//! The conductor takes the differences of the jobs' counters between ticks,
//! never the loop. When there are [`WINDOWS_MOST`] windows, pairs of them are
//! merged, so that a run of any length has windows of one length.

mod columns;

pub use columns::SeriesColumns;

use iosonde_base::{DIRS, PerDir};
use iosonde_stats::CoarseCounts;
use serde::{Deserialize, Serialize};

/// Windows of a run at most.
pub const WINDOWS_MOST: usize = 600;

/// A run over time. In documents: columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "SeriesColumns", into = "SeriesColumns")]
pub struct RunSeries {
    /// How long a window is.
    pub interval_ns: u64,
    /// How long the last one is, where that is not `interval_ns`.
    pub last_ns: Option<u64>,
    /// The longest latency of the run; 0 where it is not known.
    pub latency_max_ns: u64,
    /// The longest sync of the run; 0 where there is none.
    pub sync_max_ns: u64,
    /// The windows, one after the other. Time between waves of jobs is in none.
    pub windows: Vec<SeriesWindow>,
    /// Bytes of each job over time, in at most [`JOB_WINDOWS_MOST`] windows;
    /// empty where there are more than [`JOBS_MOST`] jobs.
    pub jobs: Vec<JobSeries>,
}

/// Jobs that have a series of their own at most.
pub const JOBS_MOST: usize = 64;
/// Windows of a job's own series at most.
pub const JOB_WINDOWS_MOST: usize = 60;

/// One window, of all jobs together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesWindow {
    /// Whether it was sampled. One that was not (the machine was too busy to
    /// look in time) has no figures, which is not zero.
    pub sampled: bool,
    /// What each direction did.
    pub dirs: PerDir<WindowCounts>,
    /// What the jobs synced.
    pub syncs: SyncCounts,
    /// Data of the whole machine that waits to be written back, at its end.
    pub dirty_bytes: Option<u64>,
    /// What the devices below the files did, where there are any.
    pub device: Option<DeviceCounts>,
    /// Processor time that the hypervisor took, as a share of all.
    pub steal_share: Option<f64>,
}

/// What the devices directly below the files did in one window, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Flushes of the write cache.
    pub flushes: u64,
}

impl DeviceCounts {
    /// Add another window's.
    pub fn merge(&mut self, other: &DeviceCounts) {
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.flushes += other.flushes;
    }
}

/// One direction in one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowCounts {
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os completed.
    pub ios: u64,
    /// I/Os that failed.
    pub errors: u64,
    /// Latencies, four buckets an octave; none where no histogram is kept.
    pub latency: CoarseCounts,
}

/// Syncs of one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncCounts {
    /// Syncs completed.
    pub ios: u64,
    /// Their latencies, four buckets an octave; none where no histogram is kept.
    pub latency: CoarseCounts,
}

/// One job over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobSeries {
    /// The job's name.
    #[serde(rename = "jobname")]
    pub name: String,
    /// How long a window is.
    pub interval_ns: u64,
    /// How long the last one is, where that is not `interval_ns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ns: Option<u64>,
    /// Bytes of each, all directions.
    pub bytes: Vec<u64>,
}

/// Where the rate of a run changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateChange {
    /// Since the first window.
    pub at_ns: u64,
    /// Bytes moved before.
    pub at_bytes: u64,
    /// Bytes per second before.
    pub before_bytes_per_s: f64,
    /// Bytes per second after.
    pub after_bytes_per_s: f64,
    /// The statistic of the change (`iosonde_stats::mean_changes`).
    pub stat: f64,
}

impl WindowCounts {
    /// Add another window's.
    pub fn merge(&mut self, other: &WindowCounts) {
        self.bytes += other.bytes;
        self.ios += other.ios;
        self.errors += other.errors;
        self.latency.merge(&other.latency);
    }
}

impl SyncCounts {
    /// Add another window's.
    pub fn merge(&mut self, other: &SyncCounts) {
        self.ios += other.ios;
        self.latency.merge(&other.latency);
    }
}

impl SeriesWindow {
    /// Bytes of all directions; `None` if it was not sampled.
    pub fn bytes(&self) -> Option<u64> {
        self.sampled.then(|| self.dirs.0.iter().map(|dir| dir.bytes).sum())
    }

    /// Whether anything was done in it.
    pub fn has_counts(&self) -> bool {
        self.dirs != PerDir::default() || self.syncs != SyncCounts::default()
    }

    /// Latencies of all directions.
    pub fn latency(&self) -> CoarseCounts {
        let mut all = CoarseCounts::default();
        self.dirs.0.iter().for_each(|dir| all.merge(&dir.latency));
        all
    }

    /// Add the window after it.
    pub fn merge(&mut self, next: &SeriesWindow) {
        // Half of a window's bytes would look like half of the rate.
        self.sampled &= next.sampled;
        for dir in DIRS {
            self.dirs[dir].merge(&next.dirs[dir]);
        }
        self.syncs.merge(&next.syncs);
        self.dirty_bytes = next.dirty_bytes.or(self.dirty_bytes);
        self.device = match (self.device, next.device) {
            (Some(mut device), Some(other)) => {
                device.merge(&other);
                Some(device)
            }
            // Half of a window's bytes would look like half of the rate.
            _ => None,
        };
        // Windows are of one length, but how many are in this one is not known here: the
        // largest is the one that matters to readers.
        let both = self.steal_share.zip(next.steal_share);
        self.steal_share = both.map(|(one, other)| one.max(other));
    }
}

/// The share of a window that one must be at least for its rate to mean anything: of less,
/// an I/O more or less makes it.
const RATE_SHARE: u64 = 4;

impl RunSeries {
    /// How long a window is.
    fn length_ns(&self, at: usize) -> u64 {
        let last_ns = self.last_ns.filter(|_| at + 1 == self.windows.len());
        last_ns.unwrap_or(self.interval_ns)
    }

    /// When a window begins, since the first did; of the one after the last, the end.
    pub fn begin_ns(&self, at: usize) -> u64 {
        let whole = |windows: usize| (windows as u64).saturating_mul(self.interval_ns);
        match at.checked_sub(1) {
            Some(last) if at >= self.windows.len() => {
                whole(last).saturating_add(self.length_ns(last))
            }
            _ => whole(at),
        }
    }

    /// The middle of a window, in seconds.
    pub fn middle_s(&self, at: usize) -> f64 {
        (self.begin_ns(at) as f64 + self.length_ns(at) as f64 / 2.0) / 1e9
    }

    /// How long a window is in seconds, for rates: `None` of a last one that is too short for
    /// one, and of one that was not sampled.
    pub fn rate_seconds(&self, at: usize) -> Option<f64> {
        let window = self.windows.get(at)?;
        let length_ns = self.length_ns(at);
        let has_rate = window.sampled && length_ns >= self.interval_ns / RATE_SHARE;
        (has_rate && length_ns > 0).then_some(length_ns as f64 / 1e9)
    }

    /// The latency that `percent` of these do not exceed, within a bucket: no longer than the
    /// longest of the run.
    pub fn percentile(&self, latency: &CoarseCounts, percent: f64) -> Option<u64> {
        within(latency, percent, self.latency_max_ns)
    }

    /// The same of syncs.
    pub fn sync_percentile(&self, latency: &CoarseCounts, percent: f64) -> Option<u64> {
        within(latency, percent, self.sync_max_ns)
    }

    /// Whether a job synced.
    pub fn has_syncs(&self) -> bool {
        self.windows.iter().any(|window| window.syncs.ios > 0)
    }

    /// The same in at most `most` windows: neighbours merged, the length of a
    /// window a multiple of what it was, but for the last.
    pub fn in_at_most(&self, most: usize) -> RunSeries {
        let together = self.windows.len().div_ceil(most.max(1)).max(1);
        let merge = |windows: &[SeriesWindow]| {
            let mut merged = windows[0].clone();
            windows[1..].iter().for_each(|next| merged.merge(next));
            merged
        };
        let interval_ns = self.interval_ns.saturating_mul(together as u64);
        let count = self.windows.len();
        let last = count.saturating_sub(1) / together * together;
        let last_ns = self.begin_ns(count).saturating_sub(self.begin_ns(last));
        RunSeries {
            interval_ns,
            last_ns: Some(last_ns).filter(|&last_ns| count > 0 && last_ns != interval_ns),
            windows: self.windows.chunks(together).map(merge).collect(),
            ..self.clone()
        }
    }

    /// Bytes of each window, as long as all were sampled; the rate of the run
    /// over time.
    pub fn bytes(&self) -> Vec<u64> {
        self.windows.iter().filter_map(SeriesWindow::bytes).collect()
    }
}

/// A percentile, no longer than the longest that was measured, where that is known.
fn within(latency: &CoarseCounts, percent: f64, longest_ns: u64) -> Option<u64> {
    let most = Some(longest_ns).filter(|&most| most > 0).unwrap_or(u64::MAX);
    latency.percentile(percent).map(|ns| ns.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Dir;

    fn series(bytes: &[u64]) -> RunSeries {
        let window = |&bytes: &u64| {
            let mut window = SeriesWindow { sampled: true, ..SeriesWindow::default() };
            window.dirs[Dir::Read].bytes = bytes;
            window
        };
        let windows = bytes.iter().map(window).collect();
        RunSeries { interval_ns: 200, windows, ..RunSeries::default() }
    }

    #[test]
    fn merged_windows_have_one_length_but_the_last_and_lose_nothing() {
        let merged = series(&[1, 2, 3, 4, 5, 6, 7]).in_at_most(3);
        assert_eq!((merged.interval_ns, merged.bytes()), (600, vec![6, 15, 7]));
        assert_eq!(merged.last_ns, Some(200));
        let short = RunSeries { last_ns: Some(50), ..series(&[1, 2, 3, 4]) }.in_at_most(2);
        assert_eq!((short.interval_ns, short.last_ns, short.bytes()), (400, Some(250), vec![3, 7]));
        let same = series(&[1, 2, 3]);
        assert_eq!(same.in_at_most(3), same);
        assert_eq!(series(&[]).in_at_most(3).bytes(), [0; 0]);
    }

    #[test]
    fn a_last_window_has_its_own_length_and_no_rate_where_it_is_too_short() {
        let of = |last_ns| RunSeries { last_ns, ..series(&[1, 2, 3]) };
        assert_eq!((of(None).begin_ns(3), of(Some(60)).begin_ns(3)), (600, 460));
        assert_eq!((of(None).middle_s(2), of(Some(60)).middle_s(2)), (500e-9, 430e-9));
        let seconds = [None, Some(60), Some(40)].map(|last_ns| of(last_ns).rate_seconds(2));
        assert_eq!(seconds, [Some(200e-9), Some(60e-9), None]);
        assert_eq!(of(Some(40)).rate_seconds(1), Some(200e-9));
    }

    #[test]
    fn a_percentile_is_no_longer_than_the_longest_latency() {
        let mut latency = CoarseCounts::default();
        latency.add(60, 1);
        let any = series(&[1]).percentile(&latency, 99.0).unwrap();
        let run = RunSeries { latency_max_ns: any - 1, ..series(&[1]) };
        assert_eq!(run.percentile(&latency, 99.0), Some(any - 1));
    }

    #[test]
    fn syncs_are_merged_and_read_back() {
        let mut run = series(&[1, 2, 3]);
        for (at, window) in run.windows.iter_mut().enumerate() {
            window.syncs.ios = at as u64;
            window.syncs.latency.add(40 + at, at as u64);
        }
        run.windows[2].sampled = false;
        run.windows[2].dirs[Dir::Read].bytes = 0;
        run.windows[2].syncs = SyncCounts::default();
        run.sync_max_ns = 123;
        let text = serde_json::to_string(&run).unwrap();
        assert!(text.contains(r#""sync":{"latency_max_ns":123,"ios":[0,1,null]"#), "{text}");
        assert_eq!(serde_json::from_str::<RunSeries>(&text).unwrap(), run);
        assert_eq!(run.in_at_most(2).windows[0].syncs.ios, 1);
        assert_eq!(run.sync_percentile(&run.windows[1].syncs.latency, 99.0), Some(123));
        assert!(run.has_syncs() && !series(&[1]).has_syncs());
        assert!(!serde_json::to_string(&series(&[1])).unwrap().contains("sync"));
    }

    #[test]
    fn a_window_with_a_part_that_was_not_sampled_has_no_figure() {
        let mut all = series(&[1, 2, 3, 4]);
        all.windows[1].sampled = false;
        let merged = all.in_at_most(2);
        assert_eq!(merged.windows[0].bytes(), None);
        assert_eq!(merged.windows[1].bytes(), Some(7));
    }

    #[test]
    fn what_is_not_known_of_a_window_is_not_known_of_the_merged_one() {
        let mut all = series(&[1, 2, 3, 4]);
        let device = DeviceCounts { read_bytes: 10, written_bytes: 20, flushes: 1 };
        for (at, window) in all.windows.iter_mut().enumerate() {
            window.device = (at != 3).then_some(device);
            window.steal_share = (at != 3).then_some(0.1 * at as f64);
        }
        let merged = all.in_at_most(2);
        let both = DeviceCounts { read_bytes: 20, written_bytes: 40, flushes: 2 };
        assert_eq!(
            (merged.windows[0].device, merged.windows[0].steal_share),
            (Some(both), Some(0.1))
        );
        assert_eq!((merged.windows[1].device, merged.windows[1].steal_share), (None, None));
    }
}
