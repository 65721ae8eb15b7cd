//! Where the bytes of a run went, what it ran on, and what follows from both:
//! plain data.
//!
//! What could not be measured is [`Observed::Unknown`] with the reason, never a
//! number. Bytes, nanoseconds and shares from 0 to 1 throughout.

use crate::finding::Finding;
use crate::fingerprint::Fingerprint;
use crate::series::{RateChange, RunSeries};

/// A measured value, or why it is unknown.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed<T> {
    /// Measured.
    Is(T),
    /// Unknown, for this reason: a fragment that fits after "unknown:".
    Unknown(String),
}

impl<T> Observed<T> {
    /// Unknown, for this reason.
    pub fn unknown(why: impl Into<String>) -> Observed<T> {
        Observed::Unknown(why.into())
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        match self {
            Observed::Is(value) => Some(value),
            Observed::Unknown(_) => None,
        }
    }

    /// What becomes of the value, if there is one.
    pub fn map<U>(&self, f: impl FnOnce(&T) -> U) -> Observed<U> {
        match self {
            Observed::Is(value) => Observed::Is(f(value)),
            Observed::Unknown(why) => Observed::Unknown(why.clone()),
        }
    }
}

impl<T> Default for Observed<T> {
    fn default() -> Observed<T> {
        Observed::Unknown("it was not measured".to_owned())
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for Observed<T> {
    fn from(result: Result<T, E>) -> Observed<T> {
        match result {
            Ok(value) => Observed::Is(value),
            Err(error) => Observed::Unknown(error.to_string()),
        }
    }
}

/// A stretch of a job's life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPhase {
    /// `lay out`, `ramp`, `run`, `verify` ...
    pub name: String,
    /// How long it took.
    pub duration_ns: u64,
}

/// Everything that was measured about a run beside its results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Each job that ran, in the order of their numbers.
    pub jobs: Vec<JobLedger>,
    /// Reads of all jobs together; `None` where none read.
    pub reads: Option<Reads>,
    /// Of those, the ones that checked what was written (`verify`).
    pub verify_reads: Option<Reads>,
    /// Writes of all jobs together; `None` where none wrote.
    pub writes: Option<Writes>,
    /// Bytes that the I/Os may fall on, each byte of a file once: of jobs
    /// through the page cache, and of direct ones.
    pub span_bytes: [u64; 2],
    /// Devices below the files, each before what it is made of.
    pub devices: Vec<DeviceLedger>,
    /// Traffic on the devices right below the files that was not from the run.
    pub other_traffic: OtherTraffic,
    /// What the run did besides the jobs' own phases: layout, watching data
    /// become durable.
    pub phases: Vec<JobPhase>,
    /// What the machine did while the jobs ran.
    pub machine: MachineLedger,
    /// What it ran on.
    pub environment: Environment,
    /// What measuring cost.
    pub tool: Tool,
    /// The run over time.
    pub series: RunSeries,
    /// Where the rate changed, of jobs that run freely and together.
    pub changes: Vec<RateChange>,
    /// What the run was, and what on, in parts that two runs may be compared by.
    pub fingerprint: Fingerprint,
    /// The findings, worst first.
    pub verdict: Vec<Finding>,
    /// What limited the run; `None` where no I/O was measured.
    pub conclusion: Option<Conclusion>,
}

/// One job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobLedger {
    /// The job's name.
    pub name: String,
    /// Its number, from 1.
    pub number: u32,
    /// How long was counted.
    pub runtime_ns: u64,
    /// Where reads came from; `None` for a job that read nothing.
    pub reads: Option<Reads>,
    /// Of those, the ones that checked what was written (`verify`); `None` for
    /// a job that checked nothing, or whose own reads lie among them.
    pub verify_reads: Option<Reads>,
    /// Where writes went; `None` for a job that wrote nothing.
    pub writes: Option<Writes>,
    /// Direct I/O.
    pub direct: DirectLedger,
    /// How deep the queue was.
    pub depth: DepthLedger,
    /// Its options.
    pub options: LedgerOptions,
    /// What is known of its files.
    pub files: FilesLedger,
    /// fsync and its kin.
    pub syncs: SyncLedger,
    /// Latency of its data I/Os, all directions.
    pub latency: LatencySummary,
    /// Processor time.
    pub cpu: CpuLedger,
}

/// The options of a job that matter for what its results mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LedgerOptions {
    /// The engine.
    pub engine: String,
    /// The smallest and the largest I/O, in bytes.
    pub block_bytes: (u64, u64),
    /// At random offsets.
    pub random: bool,
    /// It is paced: a rate, think time, or a flow holds it back.
    pub paced: bool,
    /// O_SYNC or O_DSYNC.
    pub sync: bool,
    /// The seed of its random numbers.
    pub seed: u64,
    /// A kernel thread polls its submission queue (`sqthread_poll`).
    pub polled_by_kernel: bool,
    /// What writes hold is constant, repeats, or shrinks when compressed.
    pub compressible: bool,
    /// Options with an IEC unit in their text (`KiB`) that means a power of 1000,
    /// as `kb_base` says.
    pub iec_as_si: Vec<String>,
    /// The rate of the direction that kept least of the rate that was set for it.
    pub pace: Option<PaceKept>,
    /// Other jobs with I/Os on the same offsets of the same file in the
    /// same order.
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

/// Where reads came from, in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reads {
    /// Bytes that the jobs read.
    pub completed_bytes: u64,
    /// Bytes fetched from the device for that.
    pub device_bytes: Observed<u64>,
    /// Bytes that came from the page cache: at least so many, as bytes that
    /// were read ahead and not used hide as many.
    pub cache_bytes: Observed<u64>,
    /// Bytes that are nowhere on the device: holes, or reserved and never
    /// written.
    pub hole_bytes: Observed<u64>,
    /// The holes were not met one by one: their share of the range is taken
    /// for their share of the reads.
    pub holes_estimated: bool,
    /// Bytes that were read ahead and not used; at least so many.
    pub readahead_bytes: Observed<u64>,
    /// Requests that the devices right below completed, for each read: reads that
    /// read-ahead or the cache served cost none, large ones several.
    pub requests_per_read: Observed<f64>,
    /// How much of the range was in the page cache when the job began.
    pub cached_at_start_bytes: Observed<u64>,
}

impl Reads {
    /// The share of the bytes read that came from the page cache.
    pub fn cache_share(&self) -> Option<f64> {
        share(*self.cache_bytes.get()?, self.completed_bytes)
    }

    /// Bytes fetched from the device for each byte read.
    pub fn device_bytes_per_byte(&self) -> Observed<f64> {
        let each = |bytes: &u64| share(*bytes, self.completed_bytes).unwrap_or(0.0);
        self.device_bytes.map(each)
    }

    /// The share of the bytes read that have no data on the device.
    pub fn hole_share(&self) -> Option<f64> {
        share(*self.hole_bytes.get()?, self.completed_bytes)
    }
}

/// Where writes went, in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Writes {
    /// Bytes that the jobs wrote.
    pub completed_bytes: u64,
    /// Of the files, bytes that were still only in memory when the clock
    /// stopped: dirty, or on their way.
    pub dirty_at_end_bytes: Observed<u64>,
    /// Bytes per second of the job's clock.
    pub reported_bytes_per_s: f64,
    /// Bytes per second if the clock had run until all was durable.
    pub durable_bytes_per_s: Observed<f64>,
    /// From the clock's stop until all was durable.
    pub until_durable_ns: Observed<u64>,
    /// Write-back was observed in part only: the rest is extrapolated.
    pub durable_estimated: bool,
    /// The data may be in a volatile write cache of the device: no flush is
    /// known to have followed the last write.
    pub in_volatile_cache: Observed<bool>,
    /// Share of the bytes that went where the file had no data before: holes, or
    /// space that was reserved and never written. Overwriting is other work.
    pub first_write_share: Observed<f64>,
    /// Bytes that the devices right below received, for each byte that the jobs
    /// wrote, until the last job had ended: journal and metadata, too.
    pub device_bytes_per_byte: Observed<f64>,
}

impl Writes {
    /// The share of the bytes written that was not written back.
    pub fn dirty_at_end_share(&self) -> Option<f64> {
        share((*self.dirty_at_end_bytes.get()?).min(self.completed_bytes), self.completed_bytes)
    }
}

/// `part` of `whole`; `None` of nothing.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Direct I/O: requested, and honoured or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectLedger {
    /// `direct=1`.
    pub requested: bool,
    /// The bytes went past the page cache, by what was seen, not by the flag.
    pub honoured: Observed<bool>,
    /// Why it was not honoured, or how it is known.
    pub reason: String,
}

/// Depth of the queue at three places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DepthLedger {
    /// `iodepth`.
    pub requested: u32,
    /// Mean of the I/Os that the job had under way when it issued one, by
    /// classes of powers of two: the lower end of each.
    pub observed_by_job: Observed<f64>,
    /// Mean of the requests in flight at the device below, of all jobs on it.
    pub observed_at_device: Observed<f64>,
    /// Depth requested by all jobs that ran together on that device.
    pub requested_by_all: u64,
}

/// What is known of a job's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilesLedger {
    /// How many it has.
    pub files: u64,
    /// How many were looked at; the rest is taken to be alike.
    pub inspected: u64,
    /// Bytes that its I/Os may fall on.
    pub range_bytes: u64,
    /// The file systems, by type.
    pub filesystems: Vec<String>,
    /// The devices right below, by name; empty at the lowest level.
    pub devices: Vec<String>,
    /// Share of the range without data on the device, before the run.
    pub unallocated_share: Observed<f64>,
    /// The file system compresses them.
    pub compressing: bool,
}

/// fsync and its kin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncLedger {
    /// How many were requested.
    pub requested: u64,
    /// Their median, in nanoseconds.
    pub p50_ns: Option<u64>,
}

/// A latency in a few figures, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LatencySummary {
    pub ios: u64,
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}

/// Processor time of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuLedger {
    /// In the tool's own code, for each I/O.
    pub user_ns_per_io: f64,
    /// In the kernel, for each I/O.
    pub system_ns_per_io: f64,
    /// Share of the time that the job's thread had a processor.
    pub busy_share: f64,
    /// Share of the time that the thread was ready to run and had no processor.
    pub waited_share: Observed<f64>,
    /// I/Os a second.
    pub iops: f64,
    /// I/Os a second of the same job with an engine that does nothing, on this
    /// machine.
    pub upper_bound_iops: Observed<f64>,
}

/// A device, while jobs ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceLedger {
    /// The kernel's name.
    pub name: String,
    /// What it is: `disk`, `partition`, `loop`, `mapped`, `raid`.
    pub kind: String,
    /// Right below the files (0), below that (1), and so on.
    pub level: u32,
    /// It is made of memory: a RAM disk, or a loop device of a file on tmpfs.
    pub in_memory: bool,
    /// Of a loop device: bytes dirty in the page cache of its backing file at the end.
    pub dirty_below_bytes: Option<Observed<u64>>,
    /// Of a loop device: bytes of its backing file that may have entered the page
    /// cache meanwhile, at most: those that are there more than before, and all
    /// that was taken from memory on this machine.
    pub entered_below_bytes: Option<Observed<u64>>,
    /// What it did.
    pub used: Observed<DeviceUse>,
    /// What it reports about itself.
    pub facts: DeviceDescription,
}

/// The I/O of a device while jobs ran.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceUse {
    /// Requests: read, write.
    pub ios: [u64; 2],
    /// Bytes of them.
    pub bytes: [u64; 2],
    /// Requests merged into others before they were sent.
    pub merges: [u64; 2],
    /// Time of all requests together, queued and served.
    pub time_ns: [u64; 2],
    /// Cache flushes.
    pub flushes: u64,
    /// Their time.
    pub flush_ns: u64,
    /// Mean requests in flight.
    pub depth: f64,
    /// Share of the time with any in flight.
    pub busy_share: f64,
}

impl DeviceUse {
    /// Mean size of a request, in bytes: read, write.
    pub fn request_bytes(&self) -> [Option<u64>; 2] {
        [0, 1].map(|at| self.bytes[at].checked_div(self.ios[at]))
    }
}

/// The attributes that a device reports; `None` where it reports nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DeviceDescription {
    pub model: Option<String>,
    pub firmware: Option<String>,
    pub scheduler: Option<String>,
    pub rotational: Option<bool>,
    pub read_ahead_bytes: Option<u64>,
    pub write_cache: Option<String>,
    pub fua: Option<bool>,
    pub writeback_throttle_us: Option<u64>,
    pub request_bytes_max: Option<u64>,
    /// Of a loop device: whether it bypasses the page cache of its backing file.
    pub backing_direct: Option<bool>,
}

impl DeviceDescription {
    /// Whether it keeps writes in memory and flushes do not reach that: a loop device
    /// through the page cache of its backing file, set to `write through`, to which the
    /// kernel sends no flushes.
    pub fn drops_flushes(&self) -> bool {
        self.backing_direct == Some(false) && self.write_cache.as_deref() == Some("write through")
    }
}

/// Traffic of other programs on the devices right below the files, in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherTraffic {
    /// Read, and not by the run.
    pub read_bytes: Observed<u64>,
    /// Written, and not by the run.
    pub written_bytes: Observed<u64>,
    /// Both as a share of all that the devices moved.
    pub share: Observed<f64>,
}

/// What the machine did while jobs ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineLedger {
    /// For how long.
    pub wall_ns: u64,
    /// Share of processor time that the hypervisor took.
    pub steal_share: Observed<f64>,
    /// Share of the time that some task waited for a processor, for memory,
    /// for storage.
    pub pressure: [Observed<f64>; 3],
    /// How often a control group took the processor away, and for how long.
    pub throttled: Observed<(u64, u64)>,
    /// For how long the process was stopped (SIGSTOP, Ctrl-Z) and continued, at least.
    pub stopped_ns: u64,
}

/// The system that a run used.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Environment {
    pub tool: String,
    pub kernel: String,
    pub cpu_model: Option<String>,
    pub cpus: u32,
    pub governor: Option<String>,
    pub memory_bytes: u64,
    pub available_memory_bytes: Option<u64>,
    pub virtual_machine: Option<String>,
    pub container: Option<String>,
    /// Limits of the control groups.
    pub cgroup_cpus: Option<f64>,
    pub cgroup_memory_bytes: Option<u64>,
    pub cgroup_io: Vec<String>,
    /// What drops idle pages of files from memory on its own account.
    pub pages_out: Option<String>,
    /// File systems that the files are on.
    pub filesystems: Vec<FilesystemFacts>,
    /// A hash of all of this that does not change between runs (not what is
    /// available or free): if it differs, the runs were on different systems.
    pub fingerprint: String,
}

/// A file system.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct FilesystemFacts {
    pub kind: String,
    pub mount_point: String,
    pub source: String,
    pub options: String,
    pub bytes: u64,
    /// Share that is taken.
    pub fill_share: Observed<f64>,
}

/// The tool itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tool {
    /// The cost of reading the clock once.
    pub clock_read_ns: Observed<f64>,
    /// Time spent on reading counters, all threads together, outside the
    /// jobs' clocks.
    pub counter_read_ns: u64,
}

/// One sentence on a run, and what limited it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// What limited it.
    pub limit: LimitedBy,
    /// The sentence.
    pub text: String,
}

/// What limited a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// A rate or think time of the job.
    Pace,
    /// The tester itself.
    Tester,
    /// The bytes stayed in memory.
    Memory,
    /// A limit of the control group.
    Quota,
    /// Processor time.
    Processor,
    /// The storage, at the depth that the job kept.
    Storage,
}

impl LimitedBy {
    /// All of them.
    pub const ALL: [LimitedBy; 6] = [
        LimitedBy::Pace,
        LimitedBy::Tester,
        LimitedBy::Memory,
        LimitedBy::Quota,
        LimitedBy::Processor,
        LimitedBy::Storage,
    ];

    /// In a word, as documents have it.
    pub fn word(self) -> &'static str {
        match self {
            LimitedBy::Pace => "pace",
            LimitedBy::Tester => "tester",
            LimitedBy::Memory => "memory",
            LimitedBy::Quota => "quota",
            LimitedBy::Processor => "processor",
            LimitedBy::Storage => "storage",
        }
    }
}
