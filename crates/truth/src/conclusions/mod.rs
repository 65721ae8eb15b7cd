//! Conclusions held against what is known by construction.
//!
//! [`trials`] is a table of short runs whose outcome and limit are set: simulated and
//! delayed devices, limits of control groups, paces, pauses, the page cache, stalls,
//! failures. [`try_all`] runs them with the program. Where other programs use the
//! processors, the rate shows whether the limit that was set was still the one that
//! counted: so many I/Os of so many milliseconds took that share of the time.

mod group;
mod stage;
mod table;
mod trial;

pub use table::trials;
pub use trial::{Trial, TrialOutcome, TrialResult, try_all};
