//! Plan, lay out, conduct, account: from job specifications to a report.
//!
//! [`plan::plan`] decides everything and touches nothing; [`conductor::conduct`]
//! runs the plan; [`account::report`] tells what came of it.

pub mod account;
mod around;
pub mod conductor;
pub mod disks;
mod goals;
pub mod hold;
pub mod hooks;
pub mod idle;
pub mod job;
pub mod layout;
pub mod life;
pub mod limits;
pub mod locks;
pub mod logs;
mod machine;
mod merging;
mod metronome;
pub mod observer;
mod outside;
pub mod pace;
mod place;
pub mod plan;
pub mod prios;
mod ramp;
mod recording;
mod remedy;
mod sampler;
pub mod steady;
mod steady_watch;
pub mod tap;
mod tell_errors;
pub mod witness;
pub mod worker;

/// The version of fio whose behaviour this is held to, as its `--version`
/// says it.
pub const FIO_VERSION: &str = "fio-3.42";
