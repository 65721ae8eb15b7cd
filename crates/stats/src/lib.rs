//! Counters that one thread writes and any other reads.
//!
//! [`Counters`] are written by one thread, through its [`CountersWriter`], with plain
//! loads and stores; any thread may take a [`Snapshot`] of them at any moment.
//! A window in time is the difference of two snapshots; a group of jobs is
//! their sum. Nothing here reads a clock or does I/O.

#![forbid(unsafe_code)]

mod brief;
mod change;
mod coarse;
mod counters;
mod exact;
mod fine;
mod histogram;
mod moments;
mod octaves;
mod snapshot;
mod tally;

pub use brief::BriefLatencies;
pub use change::{MeanChange, mean_changes};
pub use coarse::{COARSE_BUCKETS, CoarseCounts, coarse_lowest};
pub use counters::{
    Counters, CountersWriter, DepthMaps, LANES, Lane, WhichLatencies, batch_class, depth_class,
};
pub use exact::ExactCounts;
pub use fine::FineCounts;
pub use histogram::{BUCKETS, Histogram, HistogramSnapshot, bucket, middle};
pub use moments::{Moments, MomentsSnapshot};
pub use octaves::{OCTAVES, octave_end_ns};
pub use snapshot::{LaneSnapshot, Snapshot};
pub use tally::Tally;
