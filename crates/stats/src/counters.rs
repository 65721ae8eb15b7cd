//! The counters of one job, and the right to write them.

use crate::{Histogram, Moments, Tally};
use iosonde_base::{DIRS, Dir, PerDir};
use std::sync::Arc;

/// Which histograms a job keeps. Means and extremes are kept whenever stamps
/// are taken; a histogram costs 20 KiB for each direction and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhichLatencies {
    /// Percentiles of the submission latency.
    pub slat: bool,
    /// Percentiles of the completion latency, and fio's latency classes.
    pub clat: bool,
    /// Percentiles of the total latency.
    pub lat: bool,
    /// The directions that are paced: responses are kept, with percentiles.
    pub response: PerDir<bool>,
    /// The directions that the job can take.
    pub dirs: PerDir<bool>,
    /// Whether it may sync: percentiles of that are kept with those of `clat`.
    pub syncs: bool,
}

/// Everything counted for one direction.
#[derive(Debug, Default)]
pub struct Lane {
    /// I/Os completed.
    pub ios: Tally,
    /// Bytes moved.
    pub bytes: Tally,
    /// I/Os that moved fewer bytes than requested and were continued.
    pub short: Tally,
    /// I/Os that ended in an error.
    pub errors: Tally,
    /// I/Os handed to the engine.
    pub issued: Tally,
    /// Start to issue, in nanoseconds.
    pub slat: Moments,
    /// Issue to completion, in nanoseconds.
    pub clat: Moments,
    /// Start to completion, in nanoseconds.
    pub lat: Moments,
    /// From the moment an I/O was due to its completion, in nanoseconds; of paced
    /// directions.
    pub response: Moments,
    /// Histograms, where kept.
    pub slat_histogram: Option<Histogram>,
    /// See [`WhichLatencies::clat`].
    pub clat_histogram: Option<Histogram>,
    /// See [`WhichLatencies::lat`].
    pub lat_histogram: Option<Histogram>,
    /// See [`WhichLatencies::response`].
    pub response_histogram: Option<Histogram>,
    /// Bandwidth of each window (`bwavgtime`), in KiB/s.
    pub window_bw: Moments,
    /// I/Os per second of each window (`iopsavgtime`).
    pub window_iops: Moments,
}

impl Lane {
    fn new(which: &WhichLatencies, dir: Option<Dir>) -> Lane {
        let used = dir.is_none_or(|dir| which.dirs[dir]);
        let histogram = |wanted: bool| (wanted && used).then(Histogram::default);
        Lane {
            slat_histogram: histogram(which.slat),
            clat_histogram: histogram(which.clat),
            lat_histogram: histogram(which.lat),
            response_histogram: histogram(dir.is_some_and(|dir| which.response[dir])),
            ..Lane::default()
        }
    }

    fn clear(&self) {
        for tally in [&self.ios, &self.bytes, &self.short, &self.errors, &self.issued] {
            tally.set(0);
        }
        let windows = [&self.window_bw, &self.window_iops];
        let latencies = [&self.slat, &self.clat, &self.lat, &self.response];
        latencies.into_iter().chain(windows).for_each(Moments::clear);
        let common = [&self.slat_histogram, &self.clat_histogram, &self.lat_histogram];
        let histograms = common.into_iter().chain([&self.response_histogram]);
        histograms.flatten().for_each(Histogram::clear);
    }
}

/// Queue depths, and the sizes of submitted and completed batches, in fio's classes.
#[derive(Debug, Default)]
pub struct DepthMaps {
    /// I/Os by the depth they were issued at: 1, 2, 4, 8, 16, 32, 64 and more.
    pub level: [Tally; 7],
    /// Submissions by how many I/Os each held: 0, 4, 8, 16, 32, 64, more.
    pub submit: [Tally; 7],
    /// Collections by how many I/Os each held; classes as for `submit`.
    pub complete: [Tally; 7],
    /// How many submissions there were.
    pub submits: Tally,
    /// How many collections there were.
    pub completes: Tally,
}

/// fio's class of a queue depth: 1, 2, 4, 8, 16, 32, 64 and more.
#[inline]
pub fn depth_class(depth: u32) -> usize {
    (depth | 1).ilog2().min(6) as usize
}

/// fio's class of a batch: 0, then up to 4, 8, 16, 32, 64, and more.
#[inline]
pub fn batch_class(n: u32) -> usize {
    if n == 0 { 0 } else { ((n - 1) | 3).ilog2().min(6) as usize }
}

/// How many kinds of I/O are counted apart, each with latencies of its own.
pub const LANES: usize = DIRS.len();

/// The counters of one job.
#[derive(Debug)]
pub struct Counters {
    /// Reads, writes, trims.
    pub lanes: [Lane; LANES],
    /// fsync, fdatasync and sync_file_range; `ios` and `lat` are used.
    pub sync: Lane,
    /// I/Os per second of each window (`iopsavgtime`), all directions together.
    pub window_iops: Moments,
    /// Depths and batches.
    pub depth: DepthMaps,
}

impl Counters {
    /// The lane of a direction.
    #[inline(always)]
    pub fn lane(&self, dir: Dir) -> &Lane {
        &self.lanes[dir as usize]
    }
}

/// The right to write the counters of a job. There is one, and it cannot be copied.
#[derive(Debug)]
pub struct CountersWriter(Arc<Counters>);

impl CountersWriter {
    /// New counters: the right to write them, and the counters to read.
    pub fn new(which: &WhichLatencies) -> (CountersWriter, Arc<Counters>) {
        let lane = |dir| Lane::new(which, Some(dir));
        let sync =
            WhichLatencies { slat: false, clat: false, lat: which.clat && which.syncs, ..*which };
        let counters = Arc::new(Counters {
            lanes: [lane(Dir::Read), lane(Dir::Write), lane(Dir::Trim)],
            sync: Lane::new(&sync, None),
            window_iops: Moments::default(),
            depth: DepthMaps::default(),
        });
        (CountersWriter(counters.clone()), counters)
    }

    /// The counters.
    #[inline(always)]
    pub fn counters(&self) -> &Counters {
        &self.0
    }

    /// Set all to zero, as at the end of a ramp.
    pub fn clear(&mut self) {
        self.0.lanes.iter().chain([&self.0.sync]).for_each(Lane::clear);
        self.0.window_iops.clear();
        let DepthMaps { level, submit, complete, submits, completes } = &self.0.depth;
        let maps = level.iter().chain(submit).chain(complete).chain([submits, completes]);
        maps.for_each(|tally| tally.set(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_and_batches_fall_in_fios_classes() {
        assert_eq!(
            [1, 2, 3, 4, 31, 32, 63, 64, 1000].map(depth_class),
            [0, 1, 1, 2, 4, 5, 5, 6, 6]
        );
        assert_eq!([0, 1, 4, 5, 16, 17, 64, 65].map(batch_class), [0, 1, 1, 2, 3, 4, 5, 6]);
    }
}
