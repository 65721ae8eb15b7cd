//! Plan, lay out, conduct, account: from job specifications to a report.
//!
//! [`plan::plan`] decides everything and touches nothing; [`conductor::conduct`]
//! runs the plan; [`account::report`] tells what came of it.

pub mod account;
pub mod conductor;
pub mod disks;
pub mod hold;
pub mod job;
pub mod layout;
pub mod limits;
mod machine;
mod outside;
pub mod plan;
mod sampler;
pub mod worker;

/// The version of fio whose behaviour this is held to, as its `--version`
/// says it.
pub const FIO_VERSION: &str = "fio-3.42";
