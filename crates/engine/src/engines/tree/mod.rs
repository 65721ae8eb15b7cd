//! A tree of files and directories: its shape, its names, and what a job of the engine `tree` does
//! to them. The system calls are the platform's.
#![allow(dead_code, unused_imports, reason = "the engine itself is of Linux alone so far")]

mod found;
mod listed;
mod options;
mod shape;
mod sizes;

pub(crate) use found::note_found;
pub use found::{FindMatch, take_found};
pub use listed::TreeList;
pub(crate) use options::{DIRECT_BLOCK, OPTIONS};
pub use options::{TreeOperation, TreeSettings};
pub(crate) use shape::TreeNames;
pub use shape::{TreeShape, TreeSubject};
pub use sizes::TreeFileSizes;
pub(crate) use sizes::mixed;

/// The name of a tree's top directory, inside `tree_root`.
pub fn top_name(thread: Option<u32>) -> String {
    match thread {
        None => "iosonde-tree".to_owned(),
        Some(thread) => format!("iosonde-tree.{thread}"),
    }
}
