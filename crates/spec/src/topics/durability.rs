//! When data must be on storage, and whether the page cache is in between.

use iosonde_options::{Built, Category, FioSupport, options};

use crate::values::{SyncFileRange, SyncMode, WriteHint};

options! {
    /// Durability
    pub struct DurabilityOptions in Category::IoBasic {
        /// Go around the page cache (O_DIRECT).
        direct: bool = "0" as "direct" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Go through the page cache: the opposite of `direct`.
        buffered: bool = "1" as "buffered" {
            good: &["0", "1"],
            bad: &["2", "no"],
        }
        /// Write each block as a whole or not at all (RWF_ATOMIC); implies `direct`.
        atomic: bool = "0" as "atomic" {
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Have each write on stable storage before it returns.
        sync: SyncMode = "none" as "sync" {
            good: &["none", "0", "sync", "1", "dsync"],
            bad: &["2", "always"],
        }
        /// Call fsync(2) after every so many writes; 0 for never.
        fsync: u32 = "0" as "fsync" {
            category: Category::File,
            min: Some(0),
            fio: FioSupport::Differs("the last writes of a job are synced too"),
            good: &["0", "32"],
            bad: &["often"],
        }
        /// Call fdatasync(2) after every so many writes; 0 for never.
        fdatasync: u32 = "0" as "fdatasync" {
            category: Category::File,
            min: Some(0),
            fio: FioSupport::Differs("the last writes of a job are synced too"),
            good: &["0", "32"],
            bad: &["often"],
        }
        /// Call sync_file_range(2) with these flags after every so many writes.
        ///
        /// `wait_before,write:8`.
        sync_file_range: Option<SyncFileRange> = "" as "sync_file_range" {
            category: Category::File,
            good: &["write:8", "wait_before,write:8", "write:8,wait_after", "write"],
            bad: &["foo:1", "8"],
        }
        /// Make every so many-th write a barrier.
        write_barrier: u32 = "0" as "write_barrier" {
            fio: FioSupport::Differs("accepted without effect; so it is in fio with all engines but one"),
            category: Category::File,
            built: Built::Ignored("no engine here has write barriers"),
            min: Some(0),
            good: &["0", "8"],
            bad: &["often"],
        }
        /// Call fsync(2) on each file when the job has written all.
        end_fsync: bool = "0" as "end_fsync" {
            category: Category::File,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Call fsync(2) on each file that was written when it is closed.
        fsync_on_close: bool = "0" as "fsync_on_close" {
            category: Category::File,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Call syncfs(2) on the file system when the job has written all.
        end_syncfs: bool = "0" as "end_syncfs" {
            category: Category::File,
            good: &["0", "1"],
            bad: &["2", "yes"],
        }
        /// Tell the device how long what is written will live.
        write_hint: Option<WriteHint> = "" as "write_hint" {
            category: Category::File,
            built: Built::No,
            good: &["none", "short", "medium", "long", "extreme"],
            bad: &["1", "forever"],
        }
    }
}
