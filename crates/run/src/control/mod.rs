//! What the conductor and the threads of jobs share while jobs run.

mod error_dump;
mod file_locks;
mod ramp_tally;
mod shared;
mod wear_out;

pub(crate) use error_dump::{Backlog, error_reporter};
pub(crate) use file_locks::FileLocks;
pub(crate) use ramp_tally::RampTally;
pub use shared::JobStage;
pub(crate) use shared::{Gate, GateOpening, Shared, WithOthers, WrongBlockReporter};
pub(crate) use wear_out::{WearOut, WearOutGoal};
