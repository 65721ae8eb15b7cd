//! A device below the files: what it did, what it is.

use super::{Fact, Ledger};
use crate::derived::with_derived_members;
use serde::{Deserialize, Serialize};

/// A device, while jobs ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceLedger {
    /// The kernel's name.
    pub name: String,
    /// What it is: `disk`, `partition`, `loop`, `mapped`, `raid`.
    pub kind: String,
    /// Right below the files (0), below that (1), and so on.
    pub level: u32,
    /// The devices right below it, by name.
    pub made_of: Vec<String>,
    /// Of a loop device: the type of the file system that has its backing file, empty if
    /// that is a device.
    pub backing_filesystem: Option<String>,
    /// Flushes that must have reached it, at least, as syncs of the jobs or flushes of the
    /// device above asked for them; null where none were due, or nobody counts them.
    pub flushes_due: Option<u64>,
    /// It is made of memory: a RAM disk, or a loop device of a file on tmpfs.
    pub in_memory: bool,
    /// Of a loop device: bytes dirty in the page cache of its backing file at the end.
    pub dirty_below_bytes: Option<Fact<u64>>,
    /// Of a loop device: bytes of its backing file that may have entered the page
    /// cache meanwhile, at most: those that are there more than before, and all
    /// that was taken from memory on this machine.
    pub entered_below_bytes: Option<Fact<u64>>,
    /// Of a loop device: the share of what jobs only read from it that has no data in its
    /// backing file; null where nobody looked.
    pub holes_below_share: Option<f64>,
    /// What it did while jobs ran.
    #[serde(rename = "counters")]
    pub used: Fact<DeviceUse>,
    /// What it reports about itself.
    #[serde(flatten)]
    pub facts: DeviceDescription,
}

/// The I/O of a device while jobs ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = DeviceUse::describe_derived))]
pub struct DeviceUse {
    /// Read requests.
    pub read_ios: u64,
    /// Write requests.
    pub write_ios: u64,
    /// Bytes of read requests.
    pub read_bytes: u64,
    /// Bytes of write requests.
    pub write_bytes: u64,
    /// Read requests merged into others before they were sent.
    pub read_merges: u64,
    /// Write requests merged into others before they were sent.
    pub write_merges: u64,
    /// Time of all read requests together, queued and served.
    pub read_ns: u64,
    /// Time of all write requests together, queued and served.
    pub write_ns: u64,
    /// Cache flushes.
    pub flushes: u64,
    /// Their time.
    pub flush_ns: u64,
    /// Mean requests in flight.
    pub depth: f64,
    /// Share of the time with any in flight.
    pub busy_share: f64,
}

with_derived_members! {
    DeviceUse:
    "read_request_bytes" = read_request_bytes: Option<u64>, after "write_ns",
        "Mean size of a read request; null without any.";
    "write_request_bytes" = write_request_bytes: Option<u64>, after "read_request_bytes",
        "Mean size of a write request; null without any.";
}

impl DeviceUse {
    /// Mean size of a read request, in bytes.
    pub fn read_request_bytes(&self) -> Option<u64> {
        self.read_bytes.checked_div(self.read_ios)
    }

    /// Mean size of a write request, in bytes.
    pub fn write_request_bytes(&self) -> Option<u64> {
        self.write_bytes.checked_div(self.write_ios)
    }
}

/// The attributes that a device reports; `None` where it reports nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceDescription {
    /// The model.
    pub model: Option<String>,
    /// The firmware's version.
    pub firmware: Option<String>,
    /// The I/O scheduler.
    pub scheduler: Option<String>,
    /// It has moving parts, or reports so.
    pub rotational: Option<bool>,
    /// Of an NVMe SSD: the link that it has, as in `16.0 GT/s PCIe x4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Read-ahead.
    pub read_ahead_bytes: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Forced unit access: a write that bypasses the write cache.
    pub fua: Option<bool>,
    /// Target latency of write-back throttling.
    pub writeback_throttle_us: Option<u64>,
    /// The largest request.
    pub request_bytes_max: Option<u64>,
    /// Of a loop device: whether it bypasses the page cache of its backing file.
    pub backing_direct: Option<bool>,
}

impl DeviceLedger {
    /// Whether fewer flushes reached it than were due.
    pub fn lost_flushes(&self) -> bool {
        let (Some(due), Some(used)) = (self.flushes_due, self.used.get()) else { return false };
        used.flushes < due
    }
}

impl Ledger {
    /// Whether a device keeps writes where flushes do not reach them: a loop device set to
    /// `write through`, to which the kernel sends no flushes, over the page cache of its
    /// backing file or over a device with a volatile write cache.
    pub fn drops_flushes(&self, device: &DeviceLedger) -> bool {
        let cache = device.facts.write_cache.as_deref();
        device.kind == "loop"
            && cache == Some("write through")
            && match device.facts.backing_direct {
                Some(true) => self.is_volatile_below(device, DEPTH_MOST),
                cached => cached == Some(false),
            }
    }

    fn is_volatile_below(&self, device: &DeviceLedger, depth: u32) -> bool {
        let below = self.devices.iter().filter(|other| device.made_of.contains(&other.name));
        depth > 0
            && below.into_iter().any(|other| {
                other.facts.write_cache.as_deref() == Some("write back")
                    || self.drops_flushes(other)
                    || self.is_volatile_below(other, depth - 1)
            })
    }
}

/// Deeper stacks do not work on Linux.
const DEPTH_MOST: u32 = 16;
