//! Runs that are compared with each other: `compare` and `sweep` make many runs
//! of the same jobs, keep each result as it ends, and go on where they were
//! interrupted.

pub(crate) mod between;
pub mod figures;
pub(crate) mod folder;
pub(crate) mod page;
pub(crate) mod promise;
pub(crate) mod settings;
pub(crate) mod words;
