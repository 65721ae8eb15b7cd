//! Runs that are compared with each other: `compare` and `sweep` make many runs
//! of the same jobs, keep each result as it ends, and go on where they were
//! interrupted.

pub mod between;
pub mod figures;
pub mod folder;
pub mod jobs;
pub mod page;
pub mod promise;
pub mod settings;
pub mod words;

use crate::exit;

/// End under jobs that still run, as was asked twice.
pub fn give_up() -> ! {
    std::process::exit(exit::SIGNALLED.into())
}
