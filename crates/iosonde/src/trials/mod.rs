//! Runs that are compared with each other: `compare` and `sweep` make many runs
//! of the same jobs, keep each result as it ends, and go on where they were
//! interrupted.

pub mod between;
pub mod figures;
pub mod folder;
pub mod page;
pub mod promise;
pub mod settings;
pub mod words;

pub use iosonde_session::give_up;
