//! Commands that inspect and check: what the page cache holds, what a result of fio proves.
//!
//! Each is a module with its entry in the program's table of commands; docs/tools.md
//! describes them.

#![forbid(unsafe_code)]

pub mod audit;
pub mod cache;
