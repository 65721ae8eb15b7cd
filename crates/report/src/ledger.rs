//! Where the bytes of a run went, what it ran on, and what follows from both:
//! plain data.
//!
//! What could not be measured is [`Observed::Unknown`] with the reason, never a
//! number. Bytes, nanoseconds and shares from 0 to 1 throughout.

use crate::report::JobPhase;

/// A measured value, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed<T> {
    /// Measured.
    Is(T),
    /// Not to be had, for this reason: a fragment that fits after "unknown:".
    Unknown(String),
}

impl<T> Observed<T> {
    /// Not to be had.
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
        Observed::Unknown("it was not looked for".to_owned())
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

/// Everything that was found about a run beside its figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Each job that ran, in the order of their numbers.
    pub jobs: Vec<JobLedger>,
    /// Reads of all jobs together; `None` where none read.
    pub reads: Option<Reads>,
    /// Writes of all jobs together; `None` where none wrote.
    pub writes: Option<Writes>,
    /// Bytes that the I/Os may fall on, each byte of a file once: of jobs
    /// through the page cache, and of direct ones.
    pub span_bytes: [u64; 2],
    /// Devices below the files, each before what it is made of.
    pub devices: Vec<DeviceLedger>,
    /// Traffic on the devices right below the files that was not the run's.
    pub others: OtherTraffic,
    /// What the run did besides the jobs' own phases: layout, watching data
    /// become durable.
    pub phases: Vec<JobPhase>,
    /// What the machine did meanwhile.
    pub meanwhile: Meanwhile,
    /// What it ran on.
    pub environment: Environment,
    /// What measuring cost, and could have shown.
    pub tool: Tool,
    /// Bytes of each second, all jobs and directions.
    pub rate: RateLedger,
    /// What follows from all this, worst first.
    pub verdict: Vec<Finding>,
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
    /// Where writes went; `None` for a job that wrote nothing.
    pub writes: Option<Writes>,
    /// Direct I/O.
    pub direct: DirectLedger,
    /// How deep the queue was.
    pub depth: DepthLedger,
    /// How it was asked for.
    pub asked: JobOptions,
    /// What is known of its files.
    pub files: FilesLedger,
    /// fsync and its kin.
    pub syncs: SyncLedger,
    /// Latency of its data I/Os, all directions.
    pub latency: LatencySummary,
    /// Processor time.
    pub cpu: CpuLedger,
}

/// What was asked of a job, as far as it bears on what its figures mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobOptions {
    /// The engine.
    pub engine: String,
    /// The smallest and the largest I/O, in bytes.
    pub block_bytes: (u64, u64),
    /// At random places.
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
    /// Options whose text has an IEC unit (`KiB`) that means a power of 1000,
    /// as `kb_base` says.
    pub iec_as_si: Vec<String>,
    /// Other jobs whose I/Os fall on the same offsets of the same file in the
    /// same order.
    pub repeats_job: Option<String>,
}

/// Where reads came from, in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reads {
    /// Bytes that the jobs were given.
    pub asked_bytes: u64,
    /// Bytes fetched from the device for that.
    pub device_bytes: Observed<u64>,
    /// Bytes that came out of memory. At least so many: bytes fetched ahead
    /// and not asked for hide as many that came out of memory.
    pub cache_bytes: Observed<u64>,
    /// Bytes that are nowhere on the device: holes, or reserved and never
    /// written.
    pub hole_bytes: Observed<u64>,
    /// The holes were not met one by one: their share of the range is taken
    /// for their share of the reads.
    pub holes_by_share: bool,
    /// Bytes fetched ahead and not asked for; at least so many.
    pub ahead_bytes: Observed<u64>,
    /// How much of the range was in memory when the job began.
    pub cached_before_bytes: Observed<u64>,
}

impl Reads {
    /// The share of the bytes asked that came out of memory.
    pub fn cache_share(&self) -> Option<f64> {
        share(*self.cache_bytes.get()?, self.asked_bytes)
    }

    /// The share of the bytes asked that are nowhere on the device.
    pub fn hole_share(&self) -> Option<f64> {
        share(*self.hole_bytes.get()?, self.asked_bytes)
    }
}

/// Where writes went, in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Writes {
    /// Bytes that the jobs handed over.
    pub asked_bytes: u64,
    /// Of the files, bytes that were still only in memory when the clock
    /// stopped: dirty, or on their way.
    pub unwritten_bytes: Observed<u64>,
    /// Bytes per second as told, counted by the job's clock.
    pub told_bytes_per_s: f64,
    /// Bytes per second had the clock run until all was durable.
    pub durable_bytes_per_s: Observed<f64>,
    /// From the clock's stop until all was durable.
    pub until_durable_ns: Observed<u64>,
    /// Not all was watched become durable: the rest is taken to go on as the
    /// watched part did.
    pub durable_by_part: bool,
    /// The data may be in a cache of the device that forgets: nothing flushed
    /// it before the clock stopped.
    pub in_device_cache: Observed<bool>,
}

impl Writes {
    /// The share of the bytes asked that was not written back.
    pub fn unwritten_share(&self) -> Option<f64> {
        share((*self.unwritten_bytes.get()?).min(self.asked_bytes), self.asked_bytes)
    }
}

/// `part` of `whole`; `None` of nothing.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Direct I/O: what was asked, and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectLedger {
    /// `direct=1`.
    pub asked: bool,
    /// The bytes went past the page cache, by what was seen, not by the flag.
    pub got: Observed<bool>,
    /// Why it was not got, or how it is known.
    pub why: String,
}

/// Depth of the queue at three places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DepthLedger {
    /// `iodepth`.
    pub asked: u32,
    /// Mean of the I/Os that the job had under way when it issued one, by
    /// classes of powers of two: the lower end of each.
    pub held: Observed<f64>,
    /// Mean of the requests in flight at the device below, of all jobs on it.
    pub device: Observed<f64>,
    /// Depth asked by all jobs that ran together on that device.
    pub asked_together: u64,
}

/// What is known of a job's files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilesLedger {
    /// How many it has.
    pub files: u64,
    /// How many were looked at; the rest is taken to be alike.
    pub looked_at: u64,
    /// Bytes that its I/Os may fall on.
    pub range_bytes: u64,
    /// The file systems, by type.
    pub filesystems: Vec<String>,
    /// The devices right below, by name; empty where there is none.
    pub devices: Vec<String>,
    /// Share of the range without data on the device, before the run.
    pub empty_share: Observed<f64>,
    /// The file system compresses them.
    pub compressing: bool,
}

/// fsync and its kin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncLedger {
    /// How many were asked for.
    pub asked: u64,
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
    /// I/Os a second.
    pub iops: f64,
    /// I/Os a second of the same job with an engine that does nothing, on this
    /// machine.
    pub ceiling_iops: Observed<f64>,
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
    /// What it did.
    pub used: Observed<DeviceUse>,
    /// What it says of itself.
    pub facts: DeviceDescription,
}

/// What a device did while jobs ran.
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

/// What a device says of itself; `None` where it says nothing.
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
}

/// Traffic of others on the devices right below the files, in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtherTraffic {
    /// Read, and not asked for by the run.
    pub read_bytes: Observed<u64>,
    /// Written, and not handed over by the run.
    pub written_bytes: Observed<u64>,
    /// Both as a share of all that the devices moved.
    pub share: Observed<f64>,
}

/// What the machine did while jobs ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meanwhile {
    /// For how long.
    pub wall_ns: u64,
    /// Share of processor time that the hypervisor took.
    pub steal_share: Observed<f64>,
    /// Share of the time that some task waited for a processor, for memory,
    /// for storage.
    pub pressure: [Observed<f64>; 3],
    /// How often a control group took the processor away, and for how long.
    pub throttled: Observed<(u64, u64)>,
}

/// What a run ran on.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Environment {
    pub tool: String,
    pub kernel: String,
    pub cpu_model: Option<String>,
    pub cpus: u32,
    pub governor: Option<String>,
    pub memory_bytes: u64,
    pub available_bytes: Option<u64>,
    pub virtual_machine: Option<String>,
    pub container: Option<String>,
    /// Limits of the control groups.
    pub group_cpus: Option<f64>,
    pub group_memory_bytes: Option<u64>,
    pub group_io: Vec<String>,
    /// File systems that the files are on.
    pub filesystems: Vec<FilesystemFacts>,
    /// One number over all of this that stays as it is between runs (not what
    /// is available or free): different, and the runs are of different things.
    pub fingerprint: String,
}

/// A file system.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct FilesystemFacts {
    pub kind: String,
    pub point: String,
    pub source: String,
    pub options: String,
    pub bytes: u64,
    /// Share that is taken.
    pub fill_share: Observed<f64>,
}

/// The tool itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tool {
    /// One look at the clock.
    pub clock_ns: Observed<f64>,
    /// Time spent on reading the signals, all threads together, outside the
    /// jobs' clocks.
    pub signals_ns: u64,
}

/// How the rate went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateLedger {
    /// How long one sample is.
    pub every_ns: u64,
    /// Bytes of each.
    pub bytes: Vec<u64>,
}

/// How much a finding bears on what the figures may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Note,
    /// The figures mean something else than one would think.
    Warning,
    /// The figures are not of what was to be measured.
    Wrong,
}

impl Severity {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Wrong => "wrong",
        }
    }
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule's id: `iosonde explain ID` prints it.
    pub rule: &'static str,
    /// How bad.
    pub severity: Severity,
    /// Which jobs it is about; empty for the whole run.
    pub jobs: Vec<String>,
    /// One sentence with its figures.
    pub sentence: String,
    /// What to do about it.
    pub remedy: &'static str,
}
