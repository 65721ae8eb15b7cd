//! Commands beside running jobs, each in a file or folder, and their table.

mod compare;
mod completions;
mod help;
mod like;
mod man;
mod plot;
mod root;
mod sweep;
pub mod table;

pub use iosonde_command::{definition, format};
