//! What `find` looks for, and what it has found.

use std::sync::atomic::{AtomicU64, Ordering};

/// What all `find` jobs of this process have seen since it was last asked: a job's own counters
/// count directories.
static EXAMINED: AtomicU64 = AtomicU64::new(0);
static MATCHED: AtomicU64 = AtomicU64::new(0);

/// Names that `find` has examined and files that matched, in this process since the last call.
pub fn take_found() -> (u64, u64) {
    (EXAMINED.swap(0, Ordering::Relaxed), MATCHED.swap(0, Ordering::Relaxed))
}

/// Add those of a directory.
pub(crate) fn note_found(examined: u64, matched: u64) {
    EXAMINED.fetch_add(examined, Ordering::Relaxed);
    MATCHED.fetch_add(matched, Ordering::Relaxed);
}

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindMatch {
    /// A part of the name; empty for any.
    pub name: String,
    /// The bytes of the file, if they matter.
    pub bytes: Option<u64>,
}
