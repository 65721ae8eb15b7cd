//! Plan, lay out, conduct, account: from job specifications to a report.
//!
//! In order: [`plan`] decides everything and touches nothing, `preflight`
//! checks what may be written, `layout` makes the files, [`conductor::conduct`]
//! runs the waves of jobs (each on a thread of `worker`), `evidence` reads the
//! machine around them, and [`account::report`] makes the report. [`job`] is
//! the plain data between these stages.

pub mod account;
pub mod conductor;
mod control;
pub mod evidence;
pub mod job;
mod layout;
pub mod logs;
pub mod plan;
pub mod preflight;
mod replay;
pub mod taps;
pub mod worker;

/// The version of fio that is the reference, as its `--version`
/// prints it.
pub const FIO_VERSION: &str = "fio-3.42";
