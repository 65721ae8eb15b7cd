//! Commands beside running jobs, each in a file or folder, and their table.

mod compare;
mod completions;
pub mod diagnose;
mod help;
mod like;
mod man;
pub mod merge;
mod plot;
pub mod probe;
pub mod quick;
mod report;
mod root;
mod selftest;
mod sweep;
pub mod table;
pub mod write_cache;

pub use iosonde_command::{definition, format};
