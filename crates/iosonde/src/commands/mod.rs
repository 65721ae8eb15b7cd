//! Commands of our own beside running jobs, each in a file or folder.

pub mod audit;
pub mod cache;
pub mod probe;
mod words;
pub mod write_cache;
