//! Counters in /sys, and the unit of those in /proc.

use std::io;
use std::path::Path;

use crate::counters::DiskCounters;

/// Of the device or partition named `name` as in /sys/class/block.
pub(crate) fn disk_counters(name: &str) -> io::Result<DiskCounters> {
    // A name with a slash in it (cciss/c0d0) has a bang in sysfs.
    let folder = Path::new("/sys/class/block").join(name.replace('/', "!"));
    let text = std::fs::read_to_string(folder.join("stat"))?;
    DiskCounters::parse(&text)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no counters in it"))
}

pub(crate) fn clock_ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}
