//! What is known of a job beside its counts.

use crate::report::*;
use iosonde_base::{DIRS, PerDir};

/// What is known of a job beside its counts. Start from `default()`.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFacts {
    /// The job's name.
    pub name: String,
    /// Its reporting group.
    pub group: u32,
    /// Whether it joins the entry before it, if that is of the same group.
    pub group_reporting: bool,
    /// Whether it is reported at all (`stats=`).
    pub reported: bool,
    /// Process or thread id.
    pub pid: u32,
    /// When it started, in milliseconds of Unix time.
    pub start_unix_ms: u64,
    /// Why it failed, if it did.
    pub failure: Option<JobFailure>,
    /// Estimated seconds left.
    pub eta_s: u64,
    /// Seconds since the run began, rounded up.
    pub elapsed_s: u64,
    /// Options of the job's section, by canonical names.
    pub options: OptionTexts,
    /// `description=`.
    pub description: Option<String>,
    /// What was run, in words: `randrw 4k, psync, depth 1`.
    pub what: String,
    /// Units of text output.
    pub units: TextUnits,
    /// `unified_rw_reporting`.
    pub unified: Unified,
    /// What was measured.
    pub measured: MeasuredKinds,
    /// What is reported of it.
    pub percentiles: Percentiles,
    /// `significant_figures`.
    pub significant_figures: u32,
    /// How long each direction ran; zero where there was none.
    pub runtime_ms: PerDir<u64>,
    /// Processor use.
    pub cpu: CpuUse,
    /// I/Os given up, and zones reset: read, write, trim.
    pub dropped: PerDir<u64>,
    /// Zones reset by writes.
    pub zone_resets: u64,
    /// Share of I/Os that the page cache answered, where that is known.
    pub cachehit_percent: PerDir<Option<f64>>,
    /// What `continue_on_error` let pass; `None` when it is off.
    pub errors: Option<ErrorCount>,
    /// `latency_target` and what came of it; `iodepth` at least.
    pub latency: LatencyTarget,
    /// `steadystate` and what came of it.
    pub steady: Option<SteadyResult>,
    /// `block_error_percentiles`.
    pub block_life: Option<BlockLife>,
    /// What it did, one after the other.
    pub phases: Vec<JobPhase>,
}

impl Default for JobFacts {
    fn default() -> JobFacts {
        JobFacts {
            name: String::new(),
            group: 0,
            group_reporting: false,
            reported: true,
            pid: 0,
            start_unix_ms: 0,
            failure: None,
            eta_s: 0,
            elapsed_s: 0,
            options: OptionTexts::new(),
            description: None,
            what: String::new(),
            units: TextUnits::default(),
            unified: Unified::None,
            measured: MeasuredKinds::default(),
            percentiles: Percentiles::default(),
            significant_figures: 4,
            runtime_ms: PerDir::default(),
            cpu: CpuUse::default(),
            dropped: PerDir::default(),
            zone_resets: 0,
            cachehit_percent: PerDir::default(),
            errors: None,
            latency: LatencyTarget::default(),
            steady: None,
            block_life: None,
            phases: Vec::new(),
        }
    }
}

impl JobFacts {
    /// Take in another's, as when clones are reported as one: times are the
    /// longest, uses are sums, what describes it stays.
    pub(crate) fn merge(&mut self, other: &JobFacts) {
        self.failure = self.failure.take().or_else(|| other.failure.clone());
        self.eta_s = self.eta_s.max(other.eta_s);
        self.elapsed_s = self.elapsed_s.max(other.elapsed_s);
        for dir in DIRS {
            self.runtime_ms[dir] = self.runtime_ms[dir].max(other.runtime_ms[dir]);
            self.dropped[dir] += other.dropped[dir];
        }
        self.zone_resets += other.zone_resets;
        self.cpu.wall_ms += other.cpu.wall_ms;
        self.cpu.user_ns += other.cpu.user_ns;
        self.cpu.system_ns += other.cpu.system_ns;
        self.cpu.ctx += other.cpu.ctx;
        self.cpu.majf += other.cpu.majf;
        self.cpu.minf += other.cpu.minf;
        if let Some(theirs) = other.errors {
            let mine = self.errors.get_or_insert_default();
            mine.total += theirs.total;
            if mine.first_errno == 0 {
                mine.first_errno = theirs.first_errno;
            }
        }
        // The state of a group is kept in its last job, as fio does.
        if other.steady.is_some() {
            self.steady.clone_from(&other.steady);
        }
        for theirs in &other.phases {
            match self.phases.iter_mut().find(|mine| mine.name == theirs.name) {
                Some(mine) => mine.duration_ns = mine.duration_ns.max(theirs.duration_ns),
                None => self.phases.push(theirs.clone()),
            }
        }
    }
}

/// What was measured; what was not is reported as zero, and has no line in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredKinds {
    /// Start to issue. Off for engines that do not queue.
    pub slat: bool,
    /// Issue to completion.
    pub clat: bool,
    /// Start to completion.
    pub lat: bool,
    /// Bandwidth and I/Os per second of windows.
    pub bw: bool,
}

impl Default for MeasuredKinds {
    fn default() -> MeasuredKinds {
        MeasuredKinds { slat: true, clat: true, lat: true, bw: true }
    }
}

/// Which percentiles are reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Percentiles {
    /// `slat_percentiles`.
    pub slat: bool,
    /// `clat_percentiles`.
    pub clat: bool,
    /// `lat_percentiles`.
    pub lat: bool,
    /// `percentile_list`, rising.
    pub list: Vec<f64>,
}

impl Percentiles {
    /// fio's list where the user gives none (fio(1), `percentile_list`).
    pub const DEFAULT_LIST: [f64; 17] = [
        1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9,
        99.95, 99.99,
    ];
}

impl Default for Percentiles {
    fn default() -> Percentiles {
        let list = Percentiles::DEFAULT_LIST.to_vec();
        Percentiles { slat: false, clat: true, lat: false, list }
    }
}
