//! Judging measurements: whether B differs from A, where more load stops to
//! help, and the highest load that keeps a promise.
//!
//! Numbers in, decisions out: nothing here reads a file, runs a job or knows
//! the meaning of a figure. The unit is one run, never a window or an I/O of it,
//! because windows of one run are not independent. All randomness comes from a
//! seed.

#![forbid(unsafe_code)]

mod decision;
mod estimate;
mod holm;
mod knee;
mod looks;
mod order;
mod percentiles;
mod random;
mod sample;
mod slo;
mod student;

pub use decision::{Decision, JudgedMetric, Margin, decide, judge_metrics};
pub use estimate::{ConfidenceInterval, Estimate, pairs_needed};
pub use iosonde_base::{mean, median};
pub use knee::{Knee, LoadPoint, NoKnee, PacedPoint, knee, paced_knee};
pub use looks::LookSchedule;
pub use order::{PairOrder, pair_orders, round_order};
pub use percentiles::cliff;
pub use random::SeededRandom;
pub use sample::{geometric_mean, outliers, standard_deviation};
pub use slo::{SloOutcome, SloPhase, SloSearch, SloStep};
pub use student::t_quantile;

/// The error that is accepted: one in twenty.
pub const ALPHA: f64 = 0.05;
