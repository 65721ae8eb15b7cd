//! The record benchmark: SBK's commands for files and its output.
//!
//! Arguments become a [`bench::Benchmark`], that becomes jobs of the core
//! (`jobs`), which run as fio's jobs do. Their I/O comes through a tap,
//! record by record (`tally`), and is printed by `watch`.

#![forbid(unsafe_code)]

pub mod bench;
mod create;
mod csv;
mod direct;
mod figures;
mod jobs;
mod latencies;
mod lines;
mod metrics;
pub mod options;
mod remedies;
mod run;
mod tally;
mod watch;
pub mod words;

pub use options::command;
pub use run::run;
