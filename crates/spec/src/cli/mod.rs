//! fio's command line: flags of the program, options of jobs, job files, in any order.
//!
//! [`parse`] is the whole way from arguments to jobs.

pub mod clients;
mod draft;
pub mod flag_table;
pub mod flags;
pub mod getopt;
mod given;
mod metrics_address;
mod notice;
mod parse;
mod parsed;
mod readonly;
mod showcmd;
mod vocabulary;
mod words;

pub use notice::Notice;
pub use parse::{World, parse};
pub use parsed::{Parsed, ParsedJob};
