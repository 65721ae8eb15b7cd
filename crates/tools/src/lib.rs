//! Commands that inspect and check: a path, its storage and caches, blocks and stored results.
//!
//! Each is a module with its entry in the program's table of commands; docs/tools.md
//! describes most of them.

#![forbid(unsafe_code)]

pub mod audit;
pub mod cache;
pub mod dedupe;
pub mod diagnose;
pub mod genzipf;
pub mod merge;
pub mod probe;
pub mod quick;
pub mod report;
pub mod selftest;
pub mod verify_state;
pub mod write_cache;
