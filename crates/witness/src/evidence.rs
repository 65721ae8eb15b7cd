//! What was seen of a run: readings and facts, nothing derived.

use crate::reading::{FileReading, Location, MachineReading};
use iosonde_base::PerDir;
use iosonde_report::JobPhase;
use iosonde_report::ledger::{DeviceDescription, Fact, LatencySummary, LedgerOptions};
use iosonde_report::series::RunSeries;
use iosonde_sys::counters::{GroupLimits, TaskIo, Usage};
use iosonde_sys::environment::Machine;

/// What was seen of a run.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Jobs that ran, in the order of their numbers.
    pub jobs: Vec<JobEvidence>,
    /// Stretches of time in which jobs ran together.
    pub waves: Vec<Wave>,
    /// Where files lie: file systems, or devices themselves.
    pub places: Vec<Location>,
    /// What the devices below say of themselves, by name.
    pub facts: Vec<(String, DeviceDescription)>,
    /// The machine.
    pub machine: Machine,
    /// What the run did besides the jobs' own phases.
    pub phases: Vec<JobPhase>,
    /// The run over time.
    pub series: RunSeries,
    /// The tool's name and version.
    pub tool: String,
    /// One look at the clock.
    pub clock_read_ns: Fact<f64>,
    /// Time spent on reading signals, of all threads.
    pub counter_read_ns: u64,
    /// The call that syncs files, where it does not ask the drive to empty its volatile cache.
    pub sync_without_flush: Option<String>,
    /// For how long the process was stopped and continued, at least.
    pub stopped_ns: u64,
    /// Limits of control groups while jobs ran, each time that they had changed.
    pub limits_meanwhile: Vec<GroupLimits>,
    /// Of what jobs only read from loop devices, what their backing files do not have.
    pub holes_below: Vec<HolesBelow>,
}

/// The ranges of a loop device that jobs read, and what its backing file has of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HolesBelow {
    /// The loop device.
    pub device: String,
    /// Bytes of it that files of the jobs lie on, as far as they were looked at.
    pub bytes: u64,
    /// Of those, the ones without data in the backing file.
    pub hole_bytes: u64,
}

impl Evidence {
    /// The attributes that a device reports.
    pub fn facts_of(&self, name: &str) -> Option<&DeviceDescription> {
        self.facts.iter().find(|(known, _)| known == name).map(|(_, facts)| facts)
    }
}

/// What was seen of one job.
#[derive(Clone, Debug, Default)]
pub struct JobEvidence {
    /// Its name.
    pub name: String,
    /// Its number, from 1.
    pub number: u32,
    /// Which of [`Evidence::waves`] it ran in.
    pub wave: usize,
    /// Its options.
    pub options: LedgerOptions,
    /// `direct=1`.
    pub direct: bool,
    /// `iodepth`.
    pub depth: u32,
    /// Bytes moved while the clock ran.
    pub bytes: PerDir<u64>,
    /// I/Os of that.
    pub ios: PerDir<u64>,
    /// It ran uncounted for a while first.
    pub ramped: bool,
    /// How long the clock ran.
    pub runtime_ns: u64,
    /// Of that, after its writes, the time of a phase that read them back (`verify`).
    pub checks_ns: u64,
    /// I/Os by the depth they were issued at: classes of powers of two.
    pub depth_levels: [u64; 7],
    /// fsync and similar: how many, and their median.
    pub syncs: (u64, Option<u64>),
    /// Of them those at its end, which are not counted among the others.
    pub end_syncs: u64,
    /// Their mean and the longest, in nanoseconds.
    pub sync_times: (f64, u64),
    /// It synced after its last write, within the clock.
    pub synced_at_end: bool,
    /// Latency of its data I/Os.
    pub latency: LatencySummary,
    /// Its thread's processor time while the clock ran.
    pub usage: Usage,
    /// How long its thread was ready to run and had no processor meanwhile.
    pub run_delay_ns: Option<u64>,
    /// It moves bytes of files or devices; the null engine does not.
    pub touches_storage: bool,
    /// Those of its files that are no storage, such as /dev/null.
    pub no_storage: Vec<String>,
    /// Its random offsets are spread evenly over its range.
    pub evenly: bool,
    /// What of its range was in the page cache while it ran, where that was looked at.
    pub residency: Vec<ResidencySample>,
    /// What its thread counted while the clock ran.
    pub thread_io: Fact<TaskIo>,
    /// What the process counted while the clock ran, where no other job ran
    /// beside it.
    pub process_io: Option<TaskIo>,
    /// Threads of the kernel or of the engine may do its I/O.
    pub has_helpers: bool,
    /// How many files it has, and bytes that its I/Os may fall on.
    pub files: (u64, u64),
    /// Those that were looked at.
    pub inspected: Vec<FileReading>,
    /// The reads that checked what was written, if they can be distinguished from others.
    pub verify: Option<VerifyEvidence>,
    /// How its data became durable afterwards.
    pub durability: Fact<DurableAfter>,
    /// I/Os a second of the same job with an engine that does nothing.
    pub upper_bound_iops: Fact<f64>,
}

/// How much of a job's range was in the page cache at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResidencySample {
    /// Bytes that the job had read until then.
    pub read_bytes: u64,
    /// The share of its range that was there.
    pub share: f64,
}

/// The reads of a job that checked what was written (`verify`).
#[derive(Clone, Debug, Default)]
pub struct VerifyEvidence {
    /// Bytes that they read.
    pub bytes: u64,
    /// The job wrote what they read.
    pub wrote_it: bool,
    /// What its thread counted meanwhile.
    pub thread_io: Fact<TaskIo>,
    /// What the process counted meanwhile, where no other job ran beside it.
    pub process_io: Option<TaskIo>,
}

/// How a job's data became durable after its clock had stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurableAfter {
    /// From the clock's stop until it was, or would have been at the pace of
    /// the part that was watched.
    pub took_ns: u64,
    /// Of that, until it was asked for: other jobs ran on.
    pub waited_ns: u64,
    /// Only a part was watched.
    pub by_part: bool,
}

/// A stretch of time in which jobs ran together.
#[derive(Clone, Debug, Default)]
pub struct Wave {
    /// Before the first began.
    pub before: MachineReading,
    /// After the last had ended.
    pub after: MachineReading,
}
