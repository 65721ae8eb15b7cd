//! Readings of a run in progress, for the metrics.

pub mod dirty;
pub mod share;
