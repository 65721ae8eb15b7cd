//! Counting what one thread does while any other looks on.
//!
//! A [`Ledger`] is written by one thread, through its [`Pen`], with plain
//! loads and stores; any thread may take a [`Snapshot`] of it at any moment.
//! A window in time is the difference of two snapshots; a group of jobs is
//! their sum. Nothing here reads a clock or does I/O.

#![forbid(unsafe_code)]

mod histogram;
mod ledger;
mod moments;
mod snapshot;
mod tally;

pub use histogram::{BUCKETS, CLASS_BORDERS, Histogram, HistogramSnapshot, bucket, middle};
pub use ledger::{DepthMaps, Lane, Ledger, Pen, WhichLatencies, batch_class, depth_class};
pub use moments::{Moments, MomentsSnapshot};
pub use snapshot::{LaneSnapshot, Snapshot};
pub use tally::Tally;
