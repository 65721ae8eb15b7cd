//! What the machine did in a phase: requests of the disks, dentries in memory.

use iosonde_direct::sysfs;
use iosonde_sys::counters::DiskCounters;
use iosonde_sys::stack::Stack;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The devices right below a file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disks {
    /// Their names, as the kernel has them; none for a file system without.
    pub names: Vec<String>,
}

/// Requests that disks were sent, by any process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskRequests {
    /// Reads.
    pub reads: u64,
    /// Writes: data, inodes, directories, and the journal.
    pub writes: u64,
    /// Bytes written.
    #[serde(rename = "written_bytes")]
    pub written: u64,
    /// Cache flushes.
    pub flushes: u64,
}

impl Disks {
    /// Those that hold the files of `dir`.
    pub fn under(dir: &Path) -> Disks {
        let devices = Stack::under(dir).map(|stack| stack.devices).unwrap_or_default();
        let names = devices.into_iter().map(|device| device.name);
        Disks { names: names.filter(|name| DiskCounters::of(name).is_ok()).collect() }
    }

    /// Their counters; `None` where there is no disk.
    pub fn read(&self) -> Option<DiskCounters> {
        let counters = self.names.iter().filter_map(|name| DiskCounters::of(name).ok());
        counters.reduce(|all, one| all.plus(&one))
    }

    /// What they did since; `None` where there is no disk.
    pub fn since(&self, earlier: Option<DiskCounters>) -> Option<DiskRequests> {
        let done = self.read()?.since(&earlier?);
        Some(DiskRequests {
            reads: done.reads,
            writes: done.writes,
            written: done.write_sectors * 512,
            flushes: done.flushes,
        })
    }
}

/// Dentries that the kernel keeps, of all file systems (/proc/sys/fs/dentry-state).
pub fn dentries() -> Option<u64> {
    let state = sysfs::text("proc/sys/fs/dentry-state").ok()?;
    state.split_whitespace().next()?.parse().ok()
}

/// Write all that is dirty, and empty the machine's caches of pages, dentries and
/// inodes (/proc/sys/vm/drop_caches in the kernel's documentation).
///
/// # Errors
/// If that is not allowed.
pub fn drop_caches() -> Result<(), String> {
    iosonde_sys::files::sync_everything();
    std::fs::write(sysfs::root().join("proc/sys/vm/drop_caches"), "3\n").map_err(|error| {
        format!("--cold: cannot write to /proc/sys/vm/drop_caches: {error}; it needs root")
    })
}
