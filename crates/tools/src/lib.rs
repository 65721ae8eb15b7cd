//! Commands that inspect and check: a path, its storage and caches, blocks and results.
//!
//! Each is a module with its entry in the program's table of commands; docs/tools.md
//! describes them, and docs/course what `quick` prints.

#![forbid(unsafe_code)]

pub mod audit;
pub mod cache;
pub mod diagnose;
pub mod probe;
pub mod quick;
pub mod selftest;
pub mod write_cache;
