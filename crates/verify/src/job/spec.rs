//! What verify does in one job, and what it counts.

use crate::block::BlockFormat;
use crate::checksum::BlockType;
use crate::history::CheckOrder;
use crate::schedule::Backlogs;
use crate::writes_end::WritesEnd;

/// Which I/Os a job with verify checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    /// What it wrote, by reads of their own after or among the writes.
    Writes,
    /// What it would have written (`verify_only`): nothing is written.
    WithoutWriting,
    /// Each of its reads, as it completes: a job that only reads.
    Reads,
}

/// What verify does in one job.
#[derive(Clone, Debug)]
pub struct VerifySpec {
    /// How blocks are made.
    pub format: BlockFormat,
    /// What is checked.
    pub checks: Checks,
    /// Whether the engine moves data: blocks of one that does not are read
    /// and not looked at.
    pub moves_data: bool,
    /// In which order.
    pub order: CheckOrder,
    /// When.
    pub backlogs: Backlogs,
    /// Writes are drawn a second time to be checked, instead of being
    /// remembered (`experimental_verify`).
    pub draws_again: bool,
    /// Only writes that a sync followed are checked
    /// (`verify_policy=fsynced`).
    pub only_synced: bool,
    /// Where the writes that are checked ended (`verify_state_load`).
    pub until: Option<WritesEnd>,
    /// I/Os at most over the whole job, verify reads of a backlog among them
    /// (`number_ios` with `verify_backlog`); `u64::MAX` where the source's own
    /// limit is all.
    pub ios_most: u64,
    /// Bytes of a pass at most, verify reads of a backlog among them (`time_based` with
    /// `verify_backlog`); `u64::MAX` where the source's own limit is all.
    pub pass_bytes_most: u64,
    /// Files of the job, and how many of them are open at a time at most.
    pub files: [usize; 2],
    /// A pass may write a place again, with a block of the same length.
    pub wraps: bool,
    /// `verify_header_seed`.
    pub compare_seed: bool,
    /// `verify_write_sequence`.
    pub compare_number: bool,
    /// Share of written blocks that are trimmed again, 0 to 100.
    pub trim_percentage: u32,
    /// Seed of the job's streams.
    pub randseed: u64,
    /// Number of the job, from 1.
    pub thread: u32,
    /// Whether generators have 64 bits.
    pub wide: bool,
    /// Whether each pass draws what the first drew (`randrepeat` without
    /// `randseed`).
    pub repeat: bool,
    /// I/Os in flight at most.
    pub slots: usize,
}

impl VerifySpec {
    /// Whether what is read is looked at. It is not with `verify=null`, nor where no data is
    /// moved.
    #[inline]
    pub fn compares(&self) -> bool {
        self.moves_data && self.format.block_type() != BlockType::Null
    }
}
