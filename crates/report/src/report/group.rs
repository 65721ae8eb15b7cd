//! A reporting group: the sums of its jobs.

use super::{TextUnits, Unified};
use iosonde_base::{Dir, PerDir};

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
