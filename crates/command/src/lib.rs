//! What our commands share: the entry of each in the table of commands and the parsing of
//! its arguments, texts as all write them, and the files that they read and write.
//!
//! What a command does is not here; jobs and their options are not either.

#![forbid(unsafe_code)]

mod answer;
pub mod definition;
pub mod document;
pub mod format;
pub mod new_file;
pub mod outputs;
pub mod page_file;
mod patience;
pub mod stored;
pub mod tested;

pub use answer::CommandAnswer;
pub use patience::within;
