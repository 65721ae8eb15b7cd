//! Commands beside running jobs, each in a file or folder, and their table.

mod completions;
mod help;
mod man;
mod plot;
mod root;
pub mod table;

pub use iosonde_command::definition;
