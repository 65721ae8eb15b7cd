//! Where bytes that were read came from, and where written ones went.

use super::{Fact, share};
use crate::derived::with_derived_members;
use serde::{Deserialize, Serialize};

/// Where reads came from, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = Reads::describe_derived))]
pub struct Reads {
    /// Bytes that the jobs read.
    pub completed_bytes: u64,
    /// Bytes fetched from the device for that.
    pub device_bytes: Fact<u64>,
    /// Bytes that came from the page cache: at least so many, as bytes that
    /// were read ahead and not used hide as many.
    pub cache_bytes: Fact<u64>,
    /// Bytes that are nowhere on the device: holes, or reserved and never
    /// written.
    pub hole_bytes: Fact<u64>,
    /// The holes were not met one by one: their share of the range is taken
    /// for their share of the reads.
    pub holes_estimated: bool,
    /// Bytes that were read ahead and not used; at least so many.
    pub readahead_bytes: Fact<u64>,
    /// Requests that the devices right below completed, for each read: reads that
    /// read-ahead or the cache served cost none, large ones several.
    pub requests_per_read: Fact<f64>,
    /// How much of the range was in the page cache when the job began.
    pub cached_at_start_bytes: Fact<u64>,
}

with_derived_members! {
    Reads:
    "device_bytes_per_byte" = device_bytes_per_byte: Fact<f64>, after "requests_per_read",
        "Bytes fetched from the device for each byte read.";
    "cache_share" = cache_share: Option<f64>, after "cached_at_start_bytes",
        "The share of the bytes read that came from the page cache; null if unknown.";
    "hole_share" = hole_share: Option<f64>, after "cache_share",
        "The share of the bytes read that have no data on the device; null if unknown.";
}

impl Reads {
    /// The share of the bytes read that came from the page cache.
    pub fn cache_share(&self) -> Option<f64> {
        share(self.cache_bytes.get()?, self.completed_bytes)
    }

    /// Bytes fetched from the device for each byte read.
    pub fn device_bytes_per_byte(&self) -> Fact<f64> {
        let each = |bytes: &u64| share(*bytes, self.completed_bytes).unwrap_or(0.0);
        self.device_bytes.as_ref().map(each)
    }

    /// The share of the bytes read that have no data on the device.
    pub fn hole_share(&self) -> Option<f64> {
        share(self.hole_bytes.get()?, self.completed_bytes)
    }
}

/// Where writes went, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, remote = "Self")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = Writes::describe_derived))]
pub struct Writes {
    /// Bytes that the jobs wrote.
    pub completed_bytes: u64,
    /// Of the files, bytes that were still dirty in the page cache, or being
    /// written back, at the end of the run.
    pub dirty_at_end_bytes: Fact<u64>,
    /// More may have been: pages of the files cannot be counted, and what others wrote back
    /// meanwhile cannot be told apart.
    pub dirty_at_least: bool,
    /// Bytes per second of the job's clock.
    pub reported_bytes_per_s: f64,
    /// Bytes per second if the clock had run until all was durable.
    pub durable_bytes_per_s: Fact<f64>,
    /// From the clock's stop until all was durable.
    pub until_durable_ns: Fact<u64>,
    /// Write-back was observed in part only: the rest is extrapolated.
    pub durable_estimated: bool,
    /// The data may be in a volatile write cache of the device: no flush is
    /// known to have followed the last write.
    pub in_volatile_cache: Fact<bool>,
    /// Share of the bytes that went where the file had no data before: holes, or
    /// space that was reserved and never written. Overwriting is other work.
    pub first_write_share: Fact<f64>,
    /// Bytes that the devices right below received, for each byte that the jobs
    /// wrote, until the last job had ended: journal and metadata, too.
    pub device_bytes_per_byte: Fact<f64>,
}

with_derived_members! {
    Writes:
    "dirty_at_end_share" = dirty_at_end_share: Option<f64>, after "dirty_at_end_bytes",
        "The share of the bytes written that was not written back; null if unknown.";
}

impl Writes {
    /// The share of the bytes written that was not written back.
    pub fn dirty_at_end_share(&self) -> Option<f64> {
        share(self.dirty_at_end_bytes.get()?.min(self.completed_bytes), self.completed_bytes)
    }
}
