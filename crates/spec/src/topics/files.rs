//! Which files and devices a job works on.

use iosonde_options::{AddedPaths, Built, Category, PathList, options};

use crate::values::{FileServiceType, FileType, LockFile};

options! {
    /// Files
    pub struct FilesOptions in Category::File {
        /// The files or devices, parted by colons.
        ///
        /// A colon in a name is written `\:`. Given again it adds to those before. All of them belong to each copy of the job.
        /// Without it names come from `filename_format`.
        filename: Option<AddedPaths> = "" as "filename" {
            priority: 1,
            good: &["data", "a:b:c", "/dev/disk\\:1"],
        }
        /// What a file is taken for, where it does not exist yet.
        filetype: Option<FileType> = "" as "filetype" {
            built: Built::No,
            good: &["auto", "file", "block", "char"],
            bad: &["pipe"],
        }
        /// Where files are; of several, parted by colons, each copy of the job takes its own.
        directory: Option<PathList> = "" as "directory" {
            good: &["/tmp", "/tmp:/var/tmp"],
        }
        /// How names of files are made: `$jobname`, `$jobnum`, `$filenum`, `$clientuid`.
        filename_format: String = "$jobname.$jobnum.$filenum" as "filename_format" {
            priority: 1,
            good: &["$jobname.$jobnum.$filenum", "file.$filenum"],
        }
        /// Put the client's address in front of names, where a server runs the job.
        unique_filename: bool = "1" as "unique_filename" {
            built: Built::Ignored("there is no client and server here to tell apart"),
            good: &["0", "1"],
            bad: &["2", "no"],
        }
        /// Lock the job's files, against other jobs, while I/O to them flies.
        ///
        /// In turns of a millisecond; jobs that only read share `readwrite`.
        lockfile: LockFile = "none" as "lockfile" {
            priority: -1,
            parent: Some("filename"),
            needs: &["lockfile"],
            good: &["none", "exclusive", "readwrite"],
            bad: &["shared"],
        }
        /// Take all files of this directory, and of those under it.
        opendir: Option<String> = "" as "opendir" {
            built: Built::No,
            good: &["/tmp"],
        }
        /// Number of files the job's size is spread over.
        nrfiles: u32 = "1" as "nrfiles" | "nr_files" {
            min: Some(0),
            good: &["1", "100"],
            bad: &["many"],
        }
        /// Number of files held open at once; all of them if not given.
        openfiles: Option<u32> = "" as "openfiles" {
            min: Some(0),
            good: &["1", "100"],
            bad: &["few"],
        }
        /// How the next file is picked.
        ///
        /// `roundrobin`, `sequential` and `random` may name the number of I/Os that go to a
        /// file before another is picked: `roundrobin:4`. `zipf:theta`, `pareto:h` and
        /// `normal:deviation` draw some files more often.
        file_service_type: FileServiceType = "roundrobin" as "file_service_type" {
            parent: Some("nrfiles"),
            good: &["roundrobin", "roundrobin:4", "sequential", "random:8", "zipf:1.2",
                "pareto:0.2", "gauss:5"],
            bad: &["best", "zipf:1", "zipf:x", "pareto:2"],
        }
        /// Ask the device for this I/O scheduler while the job runs.
        ioscheduler: Option<String> = "" as "ioscheduler" {
            good: &["none"],
        }
    }
}
