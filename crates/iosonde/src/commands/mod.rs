//! Commands beside running jobs, each in a file or folder, and their table.

mod completions;
mod help;
mod man;
mod root;
pub mod table;
