//! The account of a run: plain numbers in base units, units in the names.
//!
//! Formats turn these into text; nothing here is rounded or formatted.

pub use crate::latency::{LatencyReport, Quick};
pub use crate::settings::RunSettings;
use iosonde_base::{DIRS, Dir, Errno, PerDir};

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
    /// fsync and its kin.
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

impl JobFailure {
    /// In words.
    pub fn words(&self) -> String {
        let why = match (self.doing.as_str(), self.errno) {
            // The system's words for this number are about characters.
            ("verify", Errno::EILSEQ) => "the data is not what was written".to_owned(),
            (_, errno) => errno.to_string(),
        };
        match self.place.is_empty() {
            true => format!("{}: {why}", self.doing),
            false => format!("{}: {}: {why}", self.doing, self.place),
        }
    }
}

/// One direction of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirReport {
    /// Bytes moved.
    pub io_bytes: u64,
    /// How long this direction ran.
    pub runtime_ms: u64,
    /// I/Os that ended, well or not. fio's formats call these issued.
    pub issued_ios: u64,
    /// I/Os completed.
    pub total_ios: u64,
    /// I/Os that moved less than asked.
    pub short_ios: u64,
    /// I/Os given up.
    pub drop_ios: u64,
    /// Start to issue.
    pub slat: LatencyReport,
    /// Issue to completion.
    pub clat: LatencyReport,
    /// Start to completion.
    pub lat: LatencyReport,
    /// By priority; empty unless two or more had I/O.
    pub prios: Vec<PrioReport>,
    /// Bandwidth of windows, in KiB/s.
    pub bw_kib: WindowReport,
    /// This job's share of its group's bandwidth, in percent, at most 100.
    pub bw_agg_percent: f64,
    /// I/Os per second of windows.
    pub iops_windows: WindowReport,
    /// Share of I/Os that the page cache answered, in percent.
    pub cachehit_percent: Option<f64>,
    /// Zones reset (write only).
    pub zone_resets: u64,
}

impl DirReport {
    /// Bytes per second over the whole run time, rounded down.
    pub fn bw_bytes_per_s(&self) -> u64 {
        per_second(self.io_bytes, self.runtime_ms)
    }

    /// The latency that is reported: the total latency where its percentiles
    /// were kept. The completion latency begins when a submission returns, and
    /// may be over by then.
    pub fn shown_latency(&self) -> &LatencyReport {
        if self.clat.n == 0 || self.lat.quick.is_some() { &self.lat } else { &self.clat }
    }

    /// I/Os per second over the whole run time.
    pub fn iops(&self) -> f64 {
        if self.runtime_ms == 0 {
            0.0
        } else {
            self.total_ios as f64 * 1000.0 / self.runtime_ms as f64
        }
    }
}

/// `n` in `ms` milliseconds as a rate per second, rounded down.
pub(crate) fn per_second(n: u64, ms: u64) -> u64 {
    if ms == 0 { 0 } else { (u128::from(n) * 1000 / u128::from(ms)) as u64 }
}

/// The latency of the I/Os of one priority.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrioReport {
    /// I/O priority class: 0 none, 1 real time, 2 best effort, 3 idle.
    pub class: u32,
    /// Level within the class.
    pub level: u32,
    /// I/O hint.
    pub hint: u32,
    /// Issue to completion, or start to completion where the job keeps that.
    pub latency: LatencyReport,
}

/// Rates of windows of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct WindowReport {
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    pub stddev: f64,
    pub samples: u64,
}

/// fsync, fdatasync, sync_file_range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncReport {
    /// How many.
    pub total_ios: u64,
    /// Issue to completion.
    pub lat: LatencyReport,
}

/// Processor use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUse {
    /// Run time of all clones added up; percentages are of this.
    pub wall_ms: u64,
    /// Time in user mode.
    pub user_ns: u64,
    /// Time in the kernel.
    pub system_ns: u64,
    /// Context switches, voluntary and not.
    pub ctx: u64,
    /// Page faults that needed I/O.
    pub majf: u64,
    /// Page faults that did not.
    pub minf: u64,
}

impl CpuUse {
    /// User time in percent of wall time.
    pub fn user_percent(&self) -> f64 {
        self.percent(self.user_ns)
    }

    /// System time in percent of wall time.
    pub fn system_percent(&self) -> f64 {
        self.percent(self.system_ns)
    }

    fn percent(&self, ns: u64) -> f64 {
        if self.wall_ms == 0 { 0.0 } else { ns as f64 / (self.wall_ms as f64 * 1e4) }
    }
}

/// How deep the queue was, and how much went down and came back at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthReport {
    /// I/Os by depth: 1, 2, 4, 8, 16, 32, 64 and more.
    pub level: [u64; 7],
    /// Submissions by size: 0, 4, 8, 16, 32, 64, more.
    pub submit: [u64; 7],
    /// Collections by size; classes as for `submit`.
    pub complete: [u64; 7],
    /// How many submissions.
    pub submits: u64,
    /// How many collections.
    pub completes: u64,
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

/// `steadystate` and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyResult {
    /// `iops`, `iops_slope`, `bw`, `bw_slope`, `lat`, `lat_slope`.
    pub what: String,
    /// The limit as a number.
    pub limit: f64,
    /// Whether the limit is in percent of the mean.
    pub limit_is_percent: bool,
    /// `ss_dur`.
    pub duration_s: u64,
    /// Whether it was attained.
    pub attained: bool,
    /// What was compared with the limit (in percent of the mean where the
    /// limit is): a deviation or a slope.
    pub criterion: f64,
    /// Largest deviation from the mean.
    pub max_deviation: f64,
    /// Slope of the least squares line.
    pub slope: f64,
    /// The window's samples, oldest first.
    pub samples: Vec<SteadySample>,
    /// How many samples a full window has.
    pub samples_max: usize,
}

impl Report {
    /// Zeroes in place of the samples that steady state windows lack, as fio
    /// has them: programs divide by the length of a window.
    pub fn pad_steady_windows(&mut self) {
        for steady in self.jobs.iter_mut().filter_map(|job| job.steady.as_mut()) {
            let padded = steady.samples_max.min(PADDED_SAMPLES_MAX);
            if steady.samples.len() < padded {
                steady.samples.resize(padded, SteadySample::default());
            }
        }
    }
}

/// Windows are not padded further: `ss_dur` may be years.
const PADDED_SAMPLES_MAX: usize = 1 << 20;

/// One interval (`ss_interval`) of a steady state window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct SteadySample {
    pub iops: u64,
    pub bw_bytes_per_s: u64,
    pub lat_ns: u64,
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

/// A reporting group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupReport {
    /// Its number.
    pub id: u32,
    /// Units, those of its last job.
    pub units: TextUnits,
    /// `significant_figures`, those of its last job.
    pub significant_figures: u32,
    /// Whether only a sum over directions is reported.
    pub unified: Unified,
    /// Read, write, trim; `None` where nothing ran.
    pub dirs: PerDir<Option<GroupDir>>,
    /// All directions, unless `unified` is `None`.
    pub mixed: Option<GroupDir>,
}

/// One direction of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupDir {
    /// Bytes moved by all jobs.
    pub io_bytes: u64,
    /// All bytes over the longest run time.
    pub agg_bytes_per_s: u64,
    /// The slowest job's bandwidth.
    pub min_bytes_per_s: u64,
    /// The fastest job's bandwidth.
    pub max_bytes_per_s: u64,
    /// The shortest run time.
    pub min_run_ms: u64,
    /// The longest run time.
    pub max_run_ms: u64,
}

/// A disk under the files, and what it did while the jobs ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskReport {
    /// The kernel's name: `vda`, `dm-0`.
    pub name: String,
    /// Differences of its counters.
    pub counts: DiskCounts,
    /// Means over the disks below, for a stacked device.
    pub aggregate: Option<DiskCounts>,
    /// The disks below, each by itself.
    pub slaves: Vec<DiskReport>,
}

/// Differences of a disk's counters (the kernel's iostats).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskCounts {
    /// Requests done: read, write.
    pub ios: [u64; 2],
    /// Sectors of 512 bytes: read, write; `None` where a result does not have
    /// them (fio's before 3.38).
    pub sectors: Option<[u64; 2]>,
    /// Requests merged into others: read, write.
    pub merges: [u64; 2],
    /// Milliseconds that requests took, added up: read, write.
    pub ticks_ms: [u64; 2],
    /// Milliseconds of requests in the queue, weighted.
    pub in_queue_ms: u64,
    /// Share of time with a request in flight, in percent, at most 100.
    pub util_percent: f64,
}

/// How idle processors were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuIdle {
    /// Of the whole system, in percent.
    pub system_percent: f64,
    /// Of each processor, in percent; empty unless asked (`percpu`).
    pub per_cpu_percent: Vec<f64>,
    /// Mean time of one unit of idle work, in microseconds.
    pub unit_mean_us: f64,
    /// Its deviation.
    pub unit_stddev_us: f64,
}

/// What fio does not tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ours {
    /// Jobs, in the order of `Report::jobs`.
    pub jobs: Vec<OurJob>,
    /// Findings and remarks, a sentence each.
    pub notes: Vec<String>,
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

/// A job's writes and which of them were checked (`verify`), in blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Writes that completed.
    pub written: u64,
    /// Blocks that were read and compared.
    pub checked: u64,
    /// Of those, how many were wrong.
    pub wrong: u64,
    /// Blocks that could not be read.
    pub unreadable: u64,
    /// Writes that a later write replaced before they were checked.
    pub replaced: u64,
    /// Writes that failed.
    pub failed: u64,
    /// Blocks that were trimmed and not read back.
    pub trimmed: u64,
    /// Writes that no sync followed, where only those that one did are checked.
    pub unsynced: u64,
    /// Writes that completed and were not checked.
    pub unchecked: u64,
    /// Why completed writes were not checked, if any were not; those without a sync
    /// after them included.
    pub unchecked_reason: Option<String>,
    /// The wrong blocks.
    pub wrong_blocks: WrongBlocks,
}

/// Where blocks were wrong, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrongBlocks {
    /// The one at the lowest offset of the first file.
    pub first: Option<WrongPlace>,
    /// The one at the highest offset of the last file.
    pub last: Option<WrongPlace>,
    /// How many were wrong in which way, by the names that `iosonde diagnose`
    /// has for them, in the order of their names.
    pub kinds: Vec<(String, u64)>,
}

/// A wrong block.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WrongPlace {
    /// The file.
    pub file: String,
    /// Byte offset of the first interval that is wrong.
    pub offset: u64,
    /// Bytes of the interval.
    pub bytes: u64,
    /// How it is wrong: the name that `iosonde diagnose` has for it.
    pub kind: String,
    /// The same in words.
    pub words: String,
}

impl WrongBlocks {
    /// Add a wrong block.
    pub fn add(&mut self, place: WrongPlace) {
        self.count(&place.kind, 1);
        self.extend_to(&place);
    }

    /// Add those of another job.
    fn merge(&mut self, other: &WrongBlocks) {
        other.kinds.iter().for_each(|(kind, number)| self.count(kind, *number));
        other.first.iter().chain(&other.last).for_each(|place| self.extend_to(place));
    }

    fn count(&mut self, kind: &str, number: u64) {
        match self.kinds.binary_search_by(|(known, _)| known.as_str().cmp(kind)) {
            Ok(at) => self.kinds[at].1 += number,
            Err(at) => self.kinds.insert(at, (kind.to_owned(), number)),
        }
    }

    fn extend_to(&mut self, place: &WrongPlace) {
        if self.first.as_ref().is_none_or(|first| place < first) {
            self.first = Some(place.clone());
        }
        if self.last.as_ref().is_none_or(|last| place > last) {
            self.last = Some(place.clone());
        }
    }
}

impl VerifyReport {
    /// Add what another job counted.
    pub fn merge(&mut self, other: &VerifyReport) {
        self.written += other.written;
        self.checked += other.checked;
        self.wrong += other.wrong;
        self.unreadable += other.unreadable;
        self.replaced += other.replaced;
        self.failed += other.failed;
        self.trimmed += other.trimmed;
        self.unsynced += other.unsynced;
        self.unchecked += other.unchecked;
        self.add_reason(other);
        self.wrong_blocks.merge(&other.wrong_blocks);
    }

    /// Jobs that left writes unchecked for one reason name it once.
    fn add_reason(&mut self, other: &VerifyReport) {
        let Some(more) = &other.unchecked_reason else { return };
        match &mut self.unchecked_reason {
            None => self.unchecked_reason = Some(more.clone()),
            Some(reason) if reason.split("; ").any(|one| one == more) => {}
            Some(reason) => {
                reason.push_str("; ");
                reason.push_str(more);
            }
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

impl GroupReport {
    /// What is reported, with fio's names for text.
    pub fn shown(&self) -> Vec<(&'static str, GroupDir)> {
        let names = [(Dir::Read, "READ"), (Dir::Write, "WRITE"), (Dir::Trim, "TRIM")];
        let alone = names.into_iter().filter_map(|(dir, name)| Some((name, self.dirs[dir]?)));
        let mixed = self.mixed.map(|mixed| ("MIXED", mixed));
        match self.unified {
            Unified::None => alone.collect(),
            Unified::Mixed => mixed.into_iter().collect(),
            Unified::Both => alone.chain(mixed).collect(),
        }
    }
}
