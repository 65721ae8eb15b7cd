//! Counters at one moment, as plain data: to show, subtract and add.

use crate::{
    Counters, DepthMaps, Histogram, HistogramSnapshot, LANES, Lane, MomentsSnapshot, Tally,
};

/// One direction at one moment. The fields are those of [`Lane`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LaneSnapshot {
    pub ios: u64,
    pub bytes: u64,
    pub short: u64,
    pub errors: u64,
    pub issued: u64,
    pub slat: MomentsSnapshot,
    pub clat: MomentsSnapshot,
    pub lat: MomentsSnapshot,
    pub response: MomentsSnapshot,
    pub slat_histogram: Option<HistogramSnapshot>,
    pub clat_histogram: Option<HistogramSnapshot>,
    pub lat_histogram: Option<HistogramSnapshot>,
    pub response_histogram: Option<HistogramSnapshot>,
    pub window_bw: MomentsSnapshot,
    pub window_iops: MomentsSnapshot,
}

impl Lane {
    /// This lane now.
    pub fn snapshot(&self) -> LaneSnapshot {
        LaneSnapshot {
            ios: self.ios.get(),
            bytes: self.bytes.get(),
            short: self.short.get(),
            errors: self.errors.get(),
            issued: self.issued.get(),
            slat: self.slat.snapshot(),
            clat: self.clat.snapshot(),
            lat: self.lat.snapshot(),
            response: self.response.snapshot(),
            slat_histogram: self.slat_histogram.as_ref().map(Histogram::snapshot),
            clat_histogram: self.clat_histogram.as_ref().map(Histogram::snapshot),
            lat_histogram: self.lat_histogram.as_ref().map(Histogram::snapshot),
            response_histogram: self.response_histogram.as_ref().map(Histogram::snapshot),
            window_bw: self.window_bw.snapshot(),
            window_iops: self.window_iops.snapshot(),
        }
    }
}

impl LaneSnapshot {
    /// Add another job's lane.
    pub fn merge(&mut self, other: &LaneSnapshot) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.short += other.short;
        self.errors += other.errors;
        self.issued += other.issued;
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        self.response.merge(&other.response);
        merge_histograms(&mut self.slat_histogram, &other.slat_histogram);
        merge_histograms(&mut self.clat_histogram, &other.clat_histogram);
        merge_histograms(&mut self.lat_histogram, &other.lat_histogram);
        merge_histograms(&mut self.response_histogram, &other.response_histogram);
        self.window_bw.merge(&other.window_bw);
        self.window_iops.merge(&other.window_iops);
    }
}

fn merge_histograms(mine: &mut Option<HistogramSnapshot>, theirs: &Option<HistogramSnapshot>) {
    if let Some(theirs) = theirs {
        mine.get_or_insert_default().merge(theirs);
    }
}

/// All counters of a job at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Snapshot {
    pub lanes: [LaneSnapshot; LANES],
    pub sync: LaneSnapshot,
    pub window_iops: MomentsSnapshot,
    pub depth_level: [u64; 7],
    pub depth_submit: [u64; 7],
    pub depth_complete: [u64; 7],
    pub submits: u64,
    pub completes: u64,
}

impl Counters {
    /// Everything now. Taken while the job runs it may lack the I/O that is
    /// being counted; after the job has ended it is exact.
    pub fn snapshot(&self) -> Snapshot {
        let DepthMaps { level, submit, complete, submits, completes } = &self.depth;
        Snapshot {
            lanes: self.lanes.each_ref().map(Lane::snapshot),
            sync: self.sync.snapshot(),
            window_iops: self.window_iops.snapshot(),
            depth_level: level.each_ref().map(Tally::get),
            depth_submit: submit.each_ref().map(Tally::get),
            depth_complete: complete.each_ref().map(Tally::get),
            submits: submits.get(),
            completes: completes.get(),
        }
    }
}

impl Snapshot {
    /// Add another job.
    pub fn merge(&mut self, other: &Snapshot) {
        self.lanes.iter_mut().zip(&other.lanes).for_each(|(mine, theirs)| mine.merge(theirs));
        self.sync.merge(&other.sync);
        self.window_iops.merge(&other.window_iops);
        let maps = [
            (&mut self.depth_level, &other.depth_level),
            (&mut self.depth_submit, &other.depth_submit),
            (&mut self.depth_complete, &other.depth_complete),
        ];
        for (mine, theirs) in maps {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
        self.submits += other.submits;
        self.completes += other.completes;
    }
}
