//! One job's part of the ledger.

use super::{Fact, Reads, Writes};
use serde::{Deserialize, Serialize};

/// One job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobLedger {
    /// The job's name.
    #[serde(rename = "jobname")]
    pub name: String,
    /// Its number, from 1.
    pub number: u32,
    /// For how long it was measured.
    pub runtime_ns: u64,
    /// Where reads came from; `null` for a job that read nothing.
    pub reads: Option<Reads>,
    /// Of those, the ones that checked what was written (`verify`); `null` for
    /// a job that checked nothing, or whose own reads are among them.
    pub verify_reads: Option<Reads>,
    /// Where writes went; `null` for a job that wrote nothing.
    pub writes: Option<Writes>,
    /// Direct I/O.
    pub direct: DirectLedger,
    /// How deep the queue was.
    pub depth: DepthLedger,
    /// Its options.
    pub options: LedgerOptions,
    /// What is known of its files.
    pub files: FilesLedger,
    /// fsync and similar calls.
    pub syncs: SyncLedger,
    /// Latency of its data I/Os, all directions. Documents have that of each
    /// direction among fio's keys.
    #[serde(skip)]
    pub latency: LatencySummary,
    /// Processor time.
    pub cpu: CpuLedger,
}

/// The options of a job that matter for what its results mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerOptions {
    /// The engine.
    pub engine: String,
    /// The smallest I/O.
    pub block_bytes_min: u64,
    /// The largest I/O.
    pub block_bytes_max: u64,
    /// At random offsets.
    pub random: bool,
    /// It is paced: a rate, think time, or a flow limits it.
    pub paced: bool,
    /// It pauses: think time or a flow.
    #[serde(skip)]
    pub pauses: bool,
    /// O_SYNC or O_DSYNC.
    pub sync: bool,
    /// The seed of its random numbers.
    pub seed: u64,
    /// A kernel thread polls its submission queue (`sqthread_poll`).
    #[serde(skip)]
    pub polled_by_kernel: bool,
    /// What writes hold is constant, repeats, or shrinks when compressed.
    #[serde(skip)]
    pub compressible: bool,
    /// Options with an IEC unit in their text (`KiB`) that means a power of 1000,
    /// as `kb_base` says.
    #[serde(skip)]
    pub iec_as_si: Vec<String>,
    /// The rate of the direction that kept least of the rate that was set for it.
    #[serde(skip)]
    pub pace: Option<PaceKept>,
    /// Other jobs with I/Os on the same offsets of the same file in the
    /// same order.
    #[serde(skip)]
    pub repeats_job: Option<String>,
}

/// A rate that was set (`rate`, `rate_iops`), and what was reached.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PaceKept {
    /// Of bytes, not of I/Os.
    pub in_bytes: bool,
    /// Set, per second.
    pub requested: f64,
    /// Reached, per second.
    pub reached: f64,
}

/// Direct I/O: requested, and honoured or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirectLedger {
    /// `direct=1`.
    pub requested: bool,
    /// The bytes bypassed the page cache, by what was seen, not by the flag.
    pub honoured: Fact<bool>,
    /// Why it was not honoured, or how it is known.
    pub reason: String,
}

/// Depth of the queue at three places.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DepthLedger {
    /// `iodepth`.
    pub requested: u32,
    /// Depth requested by all jobs that ran together on that device.
    pub requested_by_all: u64,
    /// Mean of the I/Os that the job had in flight when it issued one, by
    /// classes of powers of two: the lower end of each.
    pub observed_by_job: Fact<f64>,
    /// Mean of the requests in flight at the device below, of all jobs on it.
    pub observed_at_device: Fact<f64>,
}

/// What is known of a job's files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesLedger {
    /// How many it has.
    pub files: u64,
    /// How many were inspected; the rest is taken to be alike.
    pub inspected: u64,
    /// Bytes that its I/Os may fall on.
    pub range_bytes: u64,
    /// The file systems, by type.
    pub filesystems: Vec<String>,
    /// The devices right below, by name; empty at the lowest level.
    pub devices: Vec<String>,
    /// Those that are no storage, such as /dev/null: the kernel answers itself.
    pub no_storage: Vec<String>,
    /// Share of the range without data on the device, before the run.
    pub unallocated_share: Fact<f64>,
    /// The file system compresses them.
    #[serde(skip)]
    pub compressing: bool,
}

/// fsync and similar calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncLedger {
    /// How many were requested.
    pub requested: u64,
    /// Their median.
    pub p50_ns: Option<u64>,
    /// The call that synced what the job wrote, where it does not ask the drive to empty its
    /// volatile cache (`fsync(2)` on macOS); `null` where it does, or where nothing was synced.
    pub without_flush: Option<String>,
    /// Their mean; 0 without any.
    #[serde(skip)]
    pub mean_ns: f64,
    /// The longest.
    #[serde(skip)]
    pub max_ns: u64,
}

/// A latency in a few figures, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct LatencySummary {
    pub ios: u64,
    pub mean_ns: f64,
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}

/// Processor time of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuLedger {
    /// In the tester's own code, for each I/O.
    pub user_ns_per_io: f64,
    /// In the kernel, for each I/O.
    pub system_ns_per_io: f64,
    /// Share of the time that the job's thread had a processor.
    pub busy_share: f64,
    /// Share of the time that the thread was ready to run and had no processor.
    pub waited_share: Fact<f64>,
    /// I/Os per second.
    pub iops: f64,
    /// I/Os per second of the same job with an engine that does nothing, on this
    /// machine.
    pub upper_bound_iops: Fact<f64>,
}
