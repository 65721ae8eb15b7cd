//! The account of a run: plain numbers in base units, units in the names.
//!
//! Formats turn these into text; nothing here is rounded or formatted.

mod direction;
mod group;
mod names;
mod steady;
mod system;
mod verify;

pub use crate::latency::{LatencyReport, Quick};
pub use crate::ledger::JobPhase;
pub use crate::settings::RunSettings;
pub use direction::{DepthReport, DirReport, PrioReport, SyncReport, WindowReport};
pub use group::{GroupDir, GroupReport};
pub use steady::{SteadyResult, SteadySample};
pub use system::{CpuIdle, CpuUse, DiskCounts, DiskReport};
pub use verify::{VerifyCounts, VerifyReport, WrongBlocks, WrongPlace};

pub(crate) use direction::per_second;
use iosonde_base::{DIRS, Errno, PerDir};

/// Option names and the texts the user gave them, in the order given. A flag
/// without a value has an empty text.
pub type OptionTexts = Vec<(String, String)>;

/// Everything a run has to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What fio's formats name as the version: `fio-3.42`.
    pub version: String,
    /// What our own formats name: `iosonde 0.1.0`.
    pub tool: String,
    /// When the report was made, in milliseconds of Unix time.
    pub time_unix_ms: u64,
    /// Seconds that local time is ahead of UTC, for dates in text.
    pub utc_offset_s: i32,
    /// Options given before the first job; `None` when there were none.
    pub global_options: Option<OptionTexts>,
    /// One entry for each job, or for each merged set of clones.
    pub jobs: Vec<JobReport>,
    /// One entry for each reporting group, in order.
    pub groups: Vec<GroupReport>,
    /// Disks under the files, in order of first use.
    pub disks: Vec<DiskReport>,
    /// How idle processors were, when asked (`--idle-prof`).
    pub cpu_idle: Option<CpuIdle>,
    /// Notes and warnings, a sentence each.
    pub diagnostics: Vec<String>,
    /// What only our own formats tell.
    pub ours: Ours,
}

/// Units that a job's text output is in (`kb_base`, `unit_base`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextUnits {
    /// 1024 (KiB first, kB in parentheses) or 1000 (the other way round).
    pub kb_base: u32,
    /// Rates in bits instead of bytes (`unit_base=1`).
    pub bits: bool,
}

impl Default for TextUnits {
    fn default() -> TextUnits {
        TextUnits { kb_base: 1024, bits: false }
    }
}

/// How directions are reported (`unified_rw_reporting`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unified {
    /// Each direction by itself.
    #[default]
    None,
    /// Only their sum.
    Mixed,
    /// Each by itself, and their sum.
    Both,
}

/// One job, or several clones taken together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobReport {
    /// The job's name.
    pub name: String,
    /// Its reporting group, from zero.
    pub group: u32,
    /// How many jobs are in this entry.
    pub clones: u32,
    /// Process or thread id of the first.
    pub pid: u32,
    /// When it started, in milliseconds of Unix time.
    pub start_unix_ms: u64,
    /// Why it failed, if it did.
    pub failure: Option<JobFailure>,
    /// Estimated seconds left.
    pub eta_s: u64,
    /// Seconds since the run began, rounded as fio does (up).
    pub elapsed_s: u64,
    /// Options of the job's section, by canonical names.
    pub options: OptionTexts,
    /// `description=`.
    pub description: Option<String>,
    /// Units for text output.
    pub units: TextUnits,
    /// Which of `dirs` and `mixed` are reported.
    pub unified: Unified,
    /// Whether priorities are reported by lat rather than clat.
    pub prios_by_lat: bool,
    /// `percentile_list`, for the columns of terse output; empty when neither
    /// clat nor lat percentiles were asked for.
    pub percentile_list: Vec<f64>,
    /// `significant_figures`, in text output.
    pub significant_figures: u32,
    /// Read, write and trim.
    pub dirs: PerDir<DirReport>,
    /// All directions together, unless `unified` is `None`.
    pub mixed: Option<DirReport>,
    /// Syncs: fsync, fdatasync, sync_file_range.
    pub sync: SyncReport,
    /// Wall time of all clones added up, and processor use.
    pub cpu: CpuUse,
    /// How deep the queue was.
    pub depth: DepthReport,
    /// I/Os in each of fio's latency classes: 10 of nanoseconds, 10 of
    /// microseconds, 12 of milliseconds (`HistogramSnapshot::classes`).
    pub latency_classes: [u64; 32],
    /// What `continue_on_error` let pass; `None` when it is off.
    pub errors: Option<ErrorCount>,
    /// `latency_target` and what came of it.
    pub latency: LatencyTarget,
    /// `steadystate` and what came of it.
    pub steady: Option<SteadyResult>,
    /// `block_error_percentiles`.
    pub block_life: Option<BlockLife>,
}

impl JobReport {
    /// The direction reports to print, with their names in fio's JSON.
    pub fn shown(&self) -> Vec<(&'static str, &DirReport)> {
        let alone = DIRS.map(|dir| (dir.name(), &self.dirs[dir]));
        let mixed = self.mixed.as_ref().map(|mixed| ("mixed", mixed));
        match self.unified {
            Unified::None => alone.to_vec(),
            Unified::Mixed => mixed.into_iter().collect(),
            Unified::Both => alone.into_iter().chain(mixed).collect(),
        }
    }

    /// I/Os of all directions of data that ended, well or not.
    pub fn issued_ios(&self) -> u64 {
        self.dirs.0.iter().map(|dir| dir.issued_ios).sum()
    }

    /// The error that fio's formats show of the job: what ended it, or else the
    /// first one that it was to ignore; 0 without any.
    pub fn shown_errno(&self) -> i32 {
        let ignored = || self.errors.map_or(0, |errors| errors.first_errno);
        self.failure.as_ref().map_or_else(ignored, |failure| failure.errno.0)
    }
}

/// Why a job failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFailure {
    /// The system's number.
    pub errno: Errno,
    /// The file or place concerned.
    pub place: String,
    /// What was being done.
    pub doing: String,
}

/// Why a job failed that found a wrong block.
pub(crate) const WRONG_DATA: &str = "the data is not what was written";

impl JobFailure {
    /// In words.
    pub fn words(&self) -> String {
        let why = match (self.doing.as_str(), self.errno) {
            // The system's words for this number are about characters.
            ("verify", Errno::EILSEQ) => WRONG_DATA.to_owned(),
            // Nothing was found wrong: it was not looked at.
            ("verification", _) => "incomplete".to_owned(),
            (_, errno) => errno.to_string(),
        };
        if self.place.is_empty() {
            format!("{}: {why}", self.doing)
        } else {
            format!("{}: {}: {why}", self.doing, self.place)
        }
    }
}

/// Errors that `continue_on_error` let pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCount {
    /// How many.
    pub total: u64,
    /// The first one's number, zero when there was none.
    pub first_errno: i32,
}

/// `latency_target` and its companions; zeros where they are not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// The depth that was found, or `iodepth`.
    pub depth: u32,
    /// The target.
    pub target_ns: u64,
    /// The window over which it is judged.
    pub window_ns: u64,
    /// Share of I/Os that must meet it, in percent.
    pub percentile: f64,
}

impl Default for LatencyTarget {
    fn default() -> LatencyTarget {
        LatencyTarget { depth: 1, target_ns: 0, window_ns: 0, percentile: 100.0 }
    }
}

/// How often blocks were trimmed before they failed
/// (`block_error_percentiles`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockLife {
    /// Percent and number of trims.
    pub percentiles: Vec<(f64, u64)>,
    /// How many blocks ended in each state.
    pub states: Vec<BlockState>,
}

/// A state of a block and how many are in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct BlockState {
    pub name: String,
    pub blocks: u64,
}

/// What fio does not tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ours {
    /// Jobs, in the order of `Report::jobs`.
    pub jobs: Vec<OurJob>,
    /// Findings and remarks, a sentence each.
    pub notes: Vec<String>,
    /// How it came out, in one sentence; `None` of an interim report.
    pub conclusion: Option<crate::conclusion::Conclusion>,
    /// Where the bytes went, where that was looked for.
    pub ledger: Option<Box<crate::ledger::Ledger>>,
    /// The settings, where they are known.
    pub settings: Option<RunSettings>,
    /// Where and when it was measured, where it is one of several hosts' results.
    pub host: Option<Box<crate::hosts::HostStamp>>,
    /// The hosts, where it is merged from several.
    pub hosts: Option<Box<crate::hosts::HostsReport>>,
}

/// What fio does not tell of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OurJob {
    /// The job's name.
    pub name: String,
    /// What it did, one after the other.
    pub phases: Vec<JobPhase>,
    /// From the moment an I/O was due to its completion, for paced jobs.
    pub response: PerDir<Option<LatencyReport>>,
    /// From the moment something was due to its start, for recordings that are
    /// done again; syncs, opens and closes included.
    pub lateness: Option<LatencyReport>,
    /// What was run, in words: `randrw 4k, psync, depth 1`.
    pub what: String,
    /// What it checked of what it wrote, if it was to verify.
    pub verify: Option<VerifyReport>,
}
