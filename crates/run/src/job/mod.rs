//! A job, decided: nothing here is text to be parsed again, and nothing runs.

mod coordination;
mod error;
mod pacing;
mod trigger;
mod verify;

pub use coordination::*;
pub use error::JobError;
pub use pacing::*;
pub use trigger::TriggerPlan;
pub use verify::VerifyPlan;

use crate::logs::LogsPlan;
use crate::replay::merge::Merged;
use crate::taps::Tap;
use crate::taps::priorities::PriorityLatencies;
use iosonde_base::{Nanos, PerDir};
use iosonde_direct::MemoryKind;
use iosonde_engine::{
    Accounting, EngineDef, EngineSettings, Fill, Hint, Open, OpenMode, SyncRangeFlags, Tolerance,
    Window, ZoneDevices,
};
use iosonde_report::{MeasuredKinds, Percentiles, TextUnits, Unified};
use iosonde_stats::WhichLatencies;
use iosonde_sys::clock::ClockSource;
use iosonde_sys::clock::SystemClock;
use iosonde_sys::cpu::CpuList;
use iosonde_sys::numa::MemoryPolicy;
use iosonde_sys::priority::IoPriority;
use iosonde_workload::SourceSpec;
use iosonde_workload::content::{Base, Content, Dedupe, EachWrite};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Jobs that run, in waves: those of a wave start together, a wave starts
/// when the one before it has ended (`stonewall`).
#[derive(Debug, Default)]
pub struct Plan {
    /// All jobs, in the order of their numbers.
    pub jobs: Vec<JobPlan>,
    /// Which start together.
    pub waves: Vec<Vec<JobId>>,
    /// Log the bandwidth of all jobs together, to files that begin with this.
    pub bandwidth_log: Option<String>,
    /// What ends the run from outside, if anything but signals does.
    pub trigger: Option<Box<TriggerPlan>>,
    /// Merged traces to be written before anything runs.
    pub merged: Vec<Merged>,
    /// Job files, and recordings that are replayed: what the run itself is read from.
    pub inputs: BTreeSet<PathBuf>,
}

/// Index of a job in its plan.
pub type JobId = usize;

/// One job: a clone of a section, with everything about it decided.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// The section's name.
    pub name: String,
    /// Which section it comes from.
    pub section: usize,
    /// Thread number over all jobs, from 1, as in fio's log names and seeds.
    pub number: u32,
    /// Which clone of its section (`$jobnum`).
    pub clone: u32,
    /// Which run-status group it counts in.
    pub group: u32,
    /// What moves its bytes.
    pub engine: &'static EngineDef,
    /// How a pool of threads over the engine is opened, where that was
    /// requested (`io_submit_mode=offload`).
    pub offload: Option<Open>,
    /// The engine's own options.
    pub settings: EngineSettings,
    /// How many I/Os at a time.
    pub window: Window,
    /// What it does, I/O by I/O.
    pub source: SourceSpec,
    /// Directions it can take.
    pub dirs: PerDir<bool>,
    /// What holds it back besides its source's rates.
    pub pace: PacePlan,
    /// The files, in order.
    pub files: Vec<FilePlan>,
    /// How files come to be.
    pub layout: LayoutPlan,
    /// How files are opened.
    pub open: OpenPlan,
    /// Its buffers.
    pub buffers: BufferPlan,
    /// What is written.
    pub fill: FillPlan,
    /// What is checked of what was written; `None` for nothing.
    pub verify: Option<VerifyPlan>,
    /// The zones of its files, with `zonemode=zbd`.
    pub zones: Option<ZoneDevices>,
    /// Which errors it tolerates.
    pub tolerance: Tolerance,
    /// What sync_file_range(2) is asked to do.
    pub sync_range: SyncRangeFlags,
    /// When it starts and ends.
    pub time: TimePlan,
    /// What is made durable, and removed, at the end.
    pub end: EndPlan,
    /// Where and as whom its thread runs.
    pub thread: ThreadPlan,
    /// What depends on other jobs, or changes the machine around it.
    pub coordination: CoordinationPlan,
    /// What is measured and recorded while it runs.
    pub measure: MeasurePlan,
    /// How it is reported.
    pub reporting: Reporting,
}

/// How a job's files are opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenPlan {
    /// Flags, besides for reading or writing.
    pub mode: OpenMode,
    /// Drop files from the page cache when they are opened (`invalidate`).
    pub invalidate: bool,
    /// The order of access that the kernel is advised of (`fadvise_hint`).
    pub hint: Option<Hint>,
    /// `fsync_on_close`.
    pub sync_on_close: bool,
    /// `allow_mounted_write`.
    pub allow_mounted_write: bool,
}

/// A job's buffers, one for each I/O in flight.
#[derive(Clone, Debug)]
pub struct BufferPlan {
    /// Bytes of each.
    pub bytes: usize,
    /// Their alignment.
    pub align: usize,
    /// Bytes after that alignment at which the first starts. No option sets
    /// it; the matrix compares aligned and unaligned buffers.
    pub lead: usize,
    /// What kind of memory they are in.
    pub memory: MemoryKind,
    /// Bytes of memory locked meanwhile (`lockmem`).
    pub locked_bytes: u64,
}

/// What is measured and recorded while a job runs.
#[derive(Clone, Debug)]
pub struct MeasurePlan {
    /// Which stamps are taken.
    pub accounting: Accounting,
    /// Which histograms are kept.
    pub latencies: WhichLatencies,
    /// Latencies by priority, where single I/Os have one of their own.
    pub priorities: Option<Arc<PriorityLatencies>>,
    /// The clock.
    pub clock: ClockSource,
    /// Length of the windows over which bandwidth and IOPS are sampled.
    pub sample_every: SampleWindows,
    /// `write_bw_log` and the like.
    pub logs: Option<LogsPlan>,
    /// `write_iolog`.
    pub iolog: Option<PathBuf>,
    /// Receives every I/O; a job that keeps logs has none.
    pub tap: Option<Arc<dyn Tap>>,
    /// Each I/O is printed to standard output (`--debug=io`).
    pub trace: bool,
    /// Tolerated errors are reported one by one (`error_dump`).
    pub dump_errors: bool,
    /// Signals that are read before and after it; `None` for none.
    pub readings: Option<PlannedReadings>,
}

/// What is observed of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedReadings {
    /// Files, at most.
    pub files: usize,
    /// No other job runs beside it, so that what the process counts is its.
    pub alone: bool,
}

/// What writes hold, and the files that are laid out.
#[derive(Clone, Debug)]
pub struct FillPlan {
    /// The job writes what it fills.
    pub writes: bool,
    /// All else being equal, the same seed gives the same blocks.
    pub seed: u64,
    /// Content of a block before anything is changed in it.
    pub base: Base,
    /// What happens before each write.
    pub each_write: EachWrite,
    /// Which of the blocks written repeat others.
    pub repeats: Option<Dedupe>,
    /// Which of the blocks laid out repeat others.
    pub repeats_in_layout: Option<Dedupe>,
    /// Working sets are shared with the other jobs that share theirs
    /// (`dedupe_global`).
    pub shares_set: bool,
}

impl FillPlan {
    /// What is done to buffers.
    pub fn for_writes(&self) -> Fill {
        let base = self.base.clone();
        let content = Content::new(self.seed, base, self.each_write, self.repeats.as_ref());
        Fill::with(content, self.writes)
    }

    /// What files are filled with before the run.
    pub fn for_layout(&self) -> Content {
        Content::for_layout(self.seed, self.base.clone(), self.repeats_in_layout.as_ref())
    }
}

/// Windows for fio's bandwidth and IOPS samples.
#[derive(Clone, Copy, Debug)]
pub struct SampleWindows {
    /// `bwavgtime`.
    pub bandwidth: Nanos,
    /// `iopsavgtime`.
    pub iops: Nanos,
}

/// Kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// The engine touches no storage.
    None,
    /// A regular file, or one that is yet to be created.
    Regular,
    /// A block device.
    Block,
    /// A character device, such as /dev/zero.
    Character,
}

/// One file of a job.
#[derive(Clone, Debug)]
pub struct FilePlan {
    /// The name as asked, without the directory.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// First byte of the job's range.
    pub offset: u64,
    /// Bytes of the job's range.
    pub bytes: u64,
    /// How the file comes to be.
    pub need: Need,
    /// How far it is laid out, where that is more than the job's range: for other hosts.
    pub shared_end: Option<u64>,
}

impl FilePlan {
    /// Where the job's range ends.
    pub fn range_end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// How far the file has to reach once it is laid out.
    pub fn end(&self) -> u64 {
        self.shared_end.unwrap_or(self.range_end())
    }

    /// What logs call it: its path, or its name where it has none.
    pub fn path_or_name(&self) -> String {
        match self.kind {
            FileKind::None => self.name.clone(),
            _ => self.path.display().to_string(),
        }
    }
}

/// What must be there before the job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: a device, an engine without files, a file made on opening.
    Nothing,
    /// The file, with its range reserved as `fallocate` says: the job writes.
    /// Or a directory of that name, for engines of directories.
    Range,
    /// Data up to the end of the range: the job reads, or overwrites.
    Data,
}

/// `fallocate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallocate {
    /// Nothing is reserved.
    None,
    /// fallocate(2) where the file system has it, silently without elsewhere.
    Native,
    /// posix_fallocate(3): reserved, by writing if need be.
    Posix,
    /// fallocate(2) with FALLOC_FL_KEEP_SIZE.
    Keep,
    /// ftruncate(2): a sparse file of the size.
    Truncate,
}

/// How files come to be.
#[derive(Clone, Debug)]
pub struct LayoutPlan {
    /// How space is reserved.
    pub fallocate: Fallocate,
    /// Made durable after they are laid out (`create_fsync`).
    pub sync: bool,
    /// Laid out one job after the other, before any starts (`create_serialize`).
    pub serialize: bool,
    /// Created when first opened, not before (`create_on_open`).
    pub on_open: bool,
    /// May be created at all (`allow_file_create`).
    pub may_create: bool,
    /// May be made longer; not with `--readonly`.
    pub may_extend: bool,
    /// Bytes of each write while data is laid out.
    pub block: usize,
    /// Read into the page cache before the run (`pre_read`).
    pub pre_read: bool,
    /// Nothing but the layout is asked for (`create_only`).
    pub only: bool,
}

/// When a job starts and ends.
#[derive(Clone, Copy, Debug)]
pub struct TimePlan {
    /// Wait this long after the wave's start.
    pub delay: Nanos,
    /// Run this long before anything counts.
    pub ramp: Nanos,
    /// Move this many bytes before anything counts; zero for none.
    pub ramp_bytes: u64,
    /// End after this long, if at all.
    pub runtime: Option<Nanos>,
    /// After it, go on until each job has done as many I/Os as the fastest had then.
    pub wear_out: bool,
    /// End when the numbers are steady.
    pub steady: Option<SteadyPlan>,
    /// The clock that gives the start of counting.
    pub start_clock: SystemClock,
}

/// What happens at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndPlan {
    /// fsync(2) every file after each pass.
    pub fsync: bool,
    /// fdatasync(2) every file after each pass.
    pub fdatasync: bool,
    /// syncfs(2) after each pass.
    pub syncfs: bool,
    /// Remove the files afterwards.
    pub unlink: bool,
    /// Remove the files after each pass.
    pub unlink_each_loop: bool,
}

/// Where and as whom a job's thread runs.
#[derive(Clone, Debug, Default)]
pub struct ThreadPlan {
    /// Its name in the system (`comm`).
    pub name: Option<String>,
    /// Processors it may use; `None` for any.
    pub cpus: Option<CpuList>,
    /// Added to the nice value.
    pub nice: Option<i32>,
    /// ioprio_set(2).
    pub io_priority: Option<IoPriority>,
    /// NUMA nodes its memory is taken from.
    pub memory: Option<MemoryPolicy>,
    /// Its user.
    pub user: Option<u32>,
    /// Its group.
    pub group: Option<u32>,
}

/// How a job is reported.
#[derive(Clone, Debug)]
pub struct Reporting {
    /// Options of its section, canonical name and text as written.
    pub options: Vec<(String, String)>,
    /// Options, its own and global ones, with a unit such as KiB that was read as a power of 1000.
    pub iec_as_si: Vec<String>,
    /// `description`.
    pub description: Option<String>,
    /// What it does, in words: `randrw 4k, psync, depth 1`.
    pub what: String,
    /// It joins the entry before it, if that is of the same group.
    pub group_reporting: bool,
    /// It is reported at all (`stats`).
    pub reported: bool,
    /// Units of text output.
    pub units: TextUnits,
    /// `unified_rw_reporting`.
    pub unified: Unified,
    /// What was measured.
    pub measured: MeasuredKinds,
    /// Which percentiles are reported.
    pub percentiles: Percentiles,
    /// `significant_figures`.
    pub significant_figures: u32,
    /// Errors that were tolerated are counted (`continue_on_error`).
    pub counts_errors: bool,
    /// Block sizes as fio's first lines show them: least and most.
    pub sizes: PerDir<(u32, u32)>,
    /// fio's word for the direction: `randrw`.
    pub rw: String,
    /// fio's disk statistics are reported (`disk_util`).
    pub disk_util: bool,
    /// `iodepth`, as asked.
    pub depth_asked: u32,
    /// `thread` was asked for.
    pub is_thread: bool,
}
