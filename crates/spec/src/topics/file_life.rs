//! How files are made ready, and what becomes of them.

use iosonde_options::{Category, options};

use crate::values::{FadviseHint, FallocateMode};

options! {
    /// File creation and removal
    pub struct FileLifeOptions in Category::File {
        /// Lay out the files of one job after another, not all at once.
        create_serialize: bool = "1" as "create_serialize" {}
        /// Call fsync(2) on a file once it is laid out.
        create_fsync: bool = "1" as "create_fsync" {}
        /// Do not lay out files beforehand: create each when it is first opened.
        create_on_open: bool = "0" as "create_on_open" {}
        /// Lay out the files and do no I/O.
        create_only: bool = "0" as "create_only" {}
        /// Create files that do not exist.
        allow_file_create: bool = "1" as "allow_file_create" {}
        /// Allow writes to a device that is mounted or otherwise in use.
        allow_mounted_write: bool = "0" as "allow_mounted_write" {}
        /// Lay out files before the job writes to them, so that it overwrites data.
        overwrite: bool = "0" as "overwrite" {}
        /// How space for new files is allocated.
        fallocate: FallocateMode = "native" as "fallocate" {
            good: &["none", "native", "posix", "keep", "truncate", "0", "1"],
            bad: &["2", "some"],
        }
        /// Access pattern hint for the kernel (posix_fadvise(2)).
        fadvise_hint: FadviseHint = "1" as "fadvise_hint" {
            good: &["0", "1", "random", "sequential"],
            bad: &["2", "backwards"],
        }
        /// Read the files into the page cache before the job starts.
        ///
        /// Turns `invalidate` off.
        pre_read: bool = "0" as "pre_read" {}
        /// Drop the files from the page cache before the job starts.
        invalidate: bool = "1" as "invalidate" {
            category: Category::Buffer,
        }
        /// Delete the job's files at its end.
        unlink: bool = "0" as "unlink" {}
        /// Delete the job's files after each of its loops.
        unlink_each_loop: bool = "0" as "unlink_each_loop" {}
    }
}
