//! What one job checks of what it wrote.

use super::{FileKind, FilePlan, JobPlan};
use iosonde_base::Dir;
use iosonde_sys::cpu::CpuList;
use iosonde_verify::{BlockType, CheckOrder, Checks, StateFile, VerifySpec};
use std::path::PathBuf;

/// `verify` and what goes with it.
#[derive(Clone, Debug)]
pub struct VerifyPlan {
    /// How blocks are made, and which are checked when.
    pub spec: VerifySpec,
    /// Threads that check blocks; 0: the job's own does (`verify_async`).
    pub threads: u32,
    /// The processors of those threads (`verify_async_cpus`).
    pub cpus: Option<CpuList>,
    /// Write what was read and what was expected to files (`verify_dump`).
    pub dump: bool,
    /// Save what was written to a state file (`verify_state_save`).
    pub save_state: bool,
    /// Check as far as such a file says (`verify_state_load`).
    pub load_state: bool,
    /// Where state files and dumps are (`--aux-path`); empty: here.
    pub directory: PathBuf,
    /// Write dirty pages back and drop them from the page cache before blocks
    /// are read, so that the device answers and not memory.
    pub from_device: bool,
    /// Wrong blocks that were tolerated, and writes of which none was checked,
    /// fail the job.
    pub strict: bool,
}

impl VerifyPlan {
    /// Whether two writes of a pass may touch the same bytes.
    pub fn may_overlap(&self) -> bool {
        self.spec.order == CheckOrder::Offset || self.spec.wraps
    }

    /// Whether what a pass wrote is read back.
    pub fn reads_back(&self) -> bool {
        self.spec.backlogs.verify && self.spec.checks == Checks::Writes
    }

    /// Whether it is read back among the writes (`verify_backlog`).
    pub fn reads_back_among(&self) -> bool {
        self.reads_back() && self.spec.backlogs.verify_after > 0
    }

    /// Whether it decides what writes hold: but for `verify=null`, it does.
    pub fn makes_content(&self) -> bool {
        self.spec.format.block_type() != BlockType::Null
    }
}

impl JobPlan {
    /// Its number in state files, from 0.
    pub fn state_index(&self) -> u64 {
        u64::from(self.number).saturating_sub(1)
    }

    /// Its state file, if it has one.
    pub fn state_file(&self) -> Option<PathBuf> {
        let name = StateFile::file_name("local", &self.name, self.state_index());
        self.verify.as_ref().map(|plan| plan.directory.join(name))
    }

    /// Whether it goes over its writes without doing them (`verify_only`).
    pub fn only_verifies(&self) -> bool {
        let only = |plan: &VerifyPlan| plan.spec.checks == Checks::WithoutWriting;
        self.verify.as_ref().is_some_and(only)
    }

    /// Of a job that only checks what is there: the files that end before its range now, and
    /// the reason in words.
    pub fn unwritten_files(&self) -> Vec<(PathBuf, String)> {
        let checks = |plan: &VerifyPlan| plan.spec.checks != Checks::Writes;
        if !self.verify.as_ref().is_some_and(checks) {
            return Vec::new();
        }
        let regular = self.files.iter().filter(|file| file.kind == FileKind::Regular);
        let short = |file: &FilePlan| {
            let bytes = std::fs::metadata(&file.path).map_or(0, |facts| facts.len());
            let needed = file.range_end();
            let words = || {
                let path = file.path.display();
                format!(
                    "{path} has {bytes} bytes, and {needed} are to be checked: the rest was never \
                     written"
                )
            };
            (bytes < needed).then(|| (file.path.clone(), words()))
        };
        regular.filter_map(short).collect()
    }

    /// Whether it opens its files for writing.
    pub fn writes(&self) -> bool {
        let changes = self.dirs[Dir::Write] || self.dirs[Dir::Trim] || self.engine.caps.changes;
        changes && !self.only_verifies()
    }
}
