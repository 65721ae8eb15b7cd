//! When data must be on stable storage, and whether the page cache is used.

use iosonde_options::{Built, Category, FioSupport, options};

use crate::values::{SyncFileRange, SyncMode, WriteHint};

options! {
    /// Durability
    pub struct DurabilityOptions in Category::IoBasic {
        /// Bypass the page cache (O_DIRECT).
        direct: bool = "0" as "direct" {}
        /// Use the page cache: the opposite of `direct`.
        buffered: bool = "1" as "buffered" {}
        /// Write each block atomically (RWF_ATOMIC); implies `direct`.
        atomic: bool = "0" as "atomic" {
            with: &["rw=write", "ioengine=pvsync2"],
        }
        /// Open files so that each write is on stable storage when it returns.
        sync: SyncMode = "none" as "sync" {
            with: &["rw=write"],
            good: &["none", "0", "sync", "1", "dsync"],
            bad: &["2", "always"],
        }
        /// Call fsync(2) after every N writes; 0 for never.
        fsync: u32 = "0" as "fsync" {
            category: Category::File,
            min: Some(0),
            fio: FioSupport::Differs("the last writes of a job are synced too"),
            with: &["rw=write"],
            good: &["0", "32"],
        }
        /// Call fdatasync(2) after every N writes; 0 for never.
        fdatasync: u32 = "0" as "fdatasync" {
            category: Category::File,
            min: Some(0),
            fio: FioSupport::Differs("the last writes of a job are synced too"),
            with: &["rw=write"],
            good: &["0", "32"],
        }
        /// Call sync_file_range(2) with these flags after every N writes.
        ///
        /// `wait_before,write:8` does so after every eighth write.
        sync_file_range: Option<SyncFileRange> = "" as "sync_file_range" {
            category: Category::File,
            with: &["rw=write"],
            good: &["write:8", "wait_before,write:8", "write:8,wait_after", "write"],
            bad: &["foo:1", "8"],
        }
        /// Make every Nth write a barrier.
        write_barrier: u32 = "0" as "write_barrier" {
            fio: FioSupport::Differs("accepted without effect; in fio it acts with one engine only"),
            category: Category::File,
            built: Built::Ignored("no engine here has write barriers"),
            min: Some(0),
            with: &["rw=write"],
            good: &["0", "8"],
        }
        /// Call fsync(2) on each file at the end of the job.
        end_fsync: bool = "0" as "end_fsync" {
            category: Category::File,
            with: &["rw=write"],
        }
        /// Call fsync(2) on each written file before it is closed.
        fsync_on_close: bool = "0" as "fsync_on_close" {
            category: Category::File,
            with: &["rw=write"],
        }
        /// Call syncfs(2) on the file system at the end of the job.
        end_syncfs: bool = "0" as "end_syncfs" {
            category: Category::File,
            with: &["rw=write"],
        }
        /// Write lifetime hint for the device (fcntl(2) F_SET_RW_HINT).
        write_hint: WriteHint = "none" as "write_hint" {
            category: Category::File,
            with: &["rw=write"],
            good: &["none", "short", "medium", "long", "extreme"],
            bad: &["1", "forever"],
        }
    }
}
