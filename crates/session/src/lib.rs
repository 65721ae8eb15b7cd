//! One run, from jobs to what was measured: the only way to run jobs.
//!
//! Its caller says which jobs ([`Work`]), what they may do besides and what is looked at
//! ([`RunRules`]), who watches ([`Observer`]) and who else takes part ([`Peers`]). It gets
//! all that was measured ([`Measured`]), or how the run ended ([`RunEnd`]).
//!
//! The session owns what every run needs and none should write again: leave to write to
//! devices, the limit of open files, signals during runs and between them, the disks under
//! the files, the idle profile, the ledger.
//!
//! [`Observer`]: iosonde_run::conductor::Observer
//! [`Peers`]: iosonde_run::conductor::Peers

#![forbid(unsafe_code)]

pub mod job_files;
pub mod jobs;
pub mod ledger;
mod measured;
pub mod personality;
pub mod prepare;
mod run_end;
mod run_line;
mod session;
pub mod settings;
mod watch;
mod work;
mod written;

pub use measured::{Measured, document};
pub use personality::Personality;
pub use run_end::{RunEnd, give_up};
pub use run_line::RunLine;
pub use session::{ReadyRun, Session};
pub use work::{DeviceAccess, RunRules, Work, locked_files};
pub use written::{write_back, written};
