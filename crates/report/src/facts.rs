//! What is known of a job beside its counts.

use crate::report::*;
use iosonde_base::{DIRS, PerDir};

/// What is known of a job beside its counts. Start from `default()`.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFacts {
    /// What is reported of it as it is; its counts are empty.
    pub report: JobReport,
    /// Whether it joins the entry before it, if that is of the same group.
    pub group_reporting: bool,
    /// Whether it is reported at all (`stats=`).
    pub reported: bool,
    /// What was run, in words: `randrw 4k, psync, depth 1`.
    pub what: String,
    /// What was measured.
    pub measured: MeasuredKinds,
    /// What is reported of it.
    pub percentiles: Percentiles,
    /// How long each direction ran; zero where there was none.
    pub runtime_ms: PerDir<u64>,
    /// I/Os given up, and zones reset: read, write, trim.
    pub dropped: PerDir<u64>,
    /// I/Os that were gone over and not done (`verify_only`).
    pub gone_over: PerDir<u64>,
    /// Zones reset by writes.
    pub zone_resets: Option<u64>,
    /// Share of I/Os that the page cache answered, where that is known.
    pub cachehit_percent: PerDir<Option<f64>>,
    /// What it did, one after the other.
    pub phases: Vec<JobPhase>,
}

impl Default for JobFacts {
    fn default() -> JobFacts {
        JobFacts {
            report: JobReport { significant_figures: 4, ..JobReport::default() },
            group_reporting: false,
            reported: true,
            what: String::new(),
            measured: MeasuredKinds::default(),
            percentiles: Percentiles::default(),
            runtime_ms: PerDir::default(),
            dropped: PerDir::default(),
            gone_over: PerDir::default(),
            zone_resets: None,
            cachehit_percent: PerDir::default(),
            phases: Vec::new(),
        }
    }
}

impl JobFacts {
    /// Take in another's, as when clones are reported as one: times are the
    /// longest, uses are sums, what describes it stays.
    pub(crate) fn merge(&mut self, other: &JobFacts) {
        let (mine, theirs) = (&mut self.report, &other.report);
        mine.failure = mine.failure.take().or_else(|| theirs.failure.clone());
        mine.eta_s = mine.eta_s.max(theirs.eta_s);
        mine.elapsed_s = mine.elapsed_s.max(theirs.elapsed_s);
        mine.cpu.merge(&theirs.cpu);
        if let Some(theirs) = theirs.errors {
            let mine = mine.errors.get_or_insert_default();
            mine.total += theirs.total;
            if mine.first_errno == 0 {
                mine.first_errno = theirs.first_errno;
            }
        }
        // The state of a group is kept in its last job, as fio does.
        if theirs.steady.is_some() {
            mine.steady.clone_from(&theirs.steady);
        }
        for dir in DIRS {
            self.runtime_ms[dir] = self.runtime_ms[dir].max(other.runtime_ms[dir]);
            self.dropped[dir] += other.dropped[dir];
            self.gone_over[dir] += other.gone_over[dir];
        }
        if let Some(theirs) = other.zone_resets {
            *self.zone_resets.get_or_insert_default() += theirs;
        }
        for theirs in &other.phases {
            match self.phases.iter_mut().find(|mine| mine.name == theirs.name) {
                Some(mine) => {
                    mine.duration_ns = mine.duration_ns.max(theirs.duration_ns);
                    mine.start_ns = mine.start_ns.into_iter().chain(theirs.start_ns).min();
                }
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
