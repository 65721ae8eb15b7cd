//! Which files and devices a job works on.

use iosonde_options::{AddedPaths, Built, Category, PathList, options};

use crate::values::{FileServiceType, FileType, LockFile};

options! {
    /// Files
    pub struct FilesOptions in Category::File {
        /// Files or devices, separated by colons.
        ///
        /// A colon in a name is written `\:`. Given again it adds to the list. Every clone of the
        /// job uses all of them. Without it, names come from `filename_format`.
        filename: Option<AddedPaths> = "" as "filename" {
            priority: 1,
            good: &["data", "a:b:c", "/dev/disk\\:1"],
        }
        /// The type to assume for files that do not exist yet.
        filetype: FileType = "none" as "filetype" {
            built: Built::Ignored("a file that does not exist is created as a regular file"),
            good: &["none", "auto", "file", "block", "char"],
        }
        /// Directory of the files; of a colon-separated list each clone uses the next one.
        directory: Option<PathList> = "" as "directory" {
            good: &["/tmp", "/tmp:/var/tmp"],
        }
        /// Format of generated file names: `$jobname`, `$jobnum`, `$filenum`, `$clientuid`.
        filename_format: String = "$jobname.$jobnum.$filenum" as "filename_format" {
            priority: 1,
            good: &["$jobname.$jobnum.$filenum", "file.$filenum"],
        }
        /// Prefix names with the client's address when a server runs the job.
        unique_filename: bool = "1" as "unique_filename" {
            built: Built::Ignored("there is no client/server mode"),
        }
        /// Lock files against other jobs while I/O to them is in flight.
        ///
        /// A lock is held for a millisecond at a time; with `readwrite` readers share it.
        lockfile: LockFile = "none" as "lockfile" {
            priority: -1,
            parent: Some("filename"),
            needs: &["lockfile"],
            good: &["none", "exclusive", "readwrite"],
        }
        /// Use all regular files below this directory, besides those of `filename`.
        ///
        /// Links are not followed. Of more than `nrfiles`, where that is above 1, the first are used.
        opendir: Option<String> = "" as "opendir" {
            good: &["/tmp"],
        }
        /// Number of files that share the job's size.
        nrfiles: u32 = "1" as "nrfiles" | "nr_files" {
            min: Some(0),
            good: &["1", "100"],
        }
        /// Number of files open at once; default: all.
        openfiles: Option<u32> = "" as "openfiles" {
            min: Some(0),
            with: &["nrfiles=100"],
            good: &["1", "100"],
        }
        /// How the next file is selected.
        ///
        /// `roundrobin`, `sequential` and `random` take the number of I/Os before the next
        /// selection: `roundrobin:4`. `zipf:theta`, `pareto:h` and `normal:deviation` select
        /// some files more often.
        file_service_type: FileServiceType = "roundrobin" as "file_service_type" {
            parent: Some("nrfiles"),
            with: &["nrfiles=4"],
            good: &["roundrobin", "roundrobin:4", "sequential", "random:8", "zipf:1.2",
                "pareto:0.2", "gauss:5"],
            bad: &["best", "zipf:1", "zipf:x", "pareto:2"],
        }
        /// Set this I/O scheduler on the device while the job runs.
        ioscheduler: Option<String> = "" as "ioscheduler" {
            good: &["none"],
        }
    }
}
