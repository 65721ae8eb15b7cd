//! The phases: what each thread does in them, as the rules of IO500 have it.
//!
//! Sizes, counts and shifts are those that IO500 gives to IOR and mdtest (its documentation and
//! `--dry-run`): ior-easy 2 MiB in a file for each, ior-hard 47 008 bytes in turns in one file,
//! mdtest-easy empty files in a directory for each, mdtest-hard 3 901 bytes in one directory. What
//! is read, looked up or removed was made by another rank.

use super::{Io500Kind, Io500Options};
use crate::arguments::MetaOptions;
use crate::jobs::{parts, plan, planned};
use crate::result::RowName;
use crate::runner::{Step, StepJobs};
use iosonde_base::Nanos;
use iosonde_engine::tree::{FindMatch, TreeOperation};
use iosonde_options::{Amount, Bytes, Triple};
use iosonde_run::plan::JobBuilder;
use iosonde_spec::values::{EngineName, Rw, RwWord, ZoneMode};
use iosonde_sys::files::FileSystem;
use std::path::{Path, PathBuf};

/// Files that a thread makes at most, as IO500 has it: the limit of time is to come before.
pub const FILES_OF_A_THREAD: u64 = 1_000_000;
/// The bytes of a file of mdtest-hard.
pub const HARD_FILE_BYTES: u64 = 3901;
/// The transfers of ior-easy and ior-hard.
const EASY_BLOCK: u64 = 2 << 20;
const HARD_BLOCK: u64 = 47_008;
/// Of the free space ior-easy and ior-hard take no more than these shares, in percent: the limit
/// of time is to end them, and a full disk would end everything.
const EASY_PERCENT: u64 = 40;
const HARD_PERCENT: u64 = 20;

/// A phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io500Phase {
    EasyParents,
    EasyDirs,
    HardParents,
    HardDirs,
    IorEasyWrite,
    MdtestEasyWrite,
    IorHardWrite,
    MdtestHardWrite,
    Find,
    IorEasyRead,
    MdtestEasyStat,
    IorHardRead,
    MdtestHardStat,
    MdtestEasyDelete,
    MdtestHardRead,
    MdtestHardDelete,
}

use Io500Phase::*;

impl Io500Phase {
    /// In the order of IO500, with what makes the directories first.
    pub const ALL: [Io500Phase; 16] = [
        EasyParents,
        EasyDirs,
        HardParents,
        HardDirs,
        IorEasyWrite,
        MdtestEasyWrite,
        IorHardWrite,
        MdtestHardWrite,
        Find,
        IorEasyRead,
        MdtestEasyStat,
        IorHardRead,
        MdtestHardStat,
        MdtestEasyDelete,
        MdtestHardRead,
        MdtestHardDelete,
    ];

    /// The name that IO500 gives it; none for what only makes directories.
    pub fn name(self) -> &'static str {
        match self {
            EasyParents | EasyDirs | HardParents | HardDirs => "",
            IorEasyWrite => "ior-easy-write",
            MdtestEasyWrite => "mdtest-easy-write",
            IorHardWrite => "ior-hard-write",
            MdtestHardWrite => "mdtest-hard-write",
            Find => "find",
            IorEasyRead => "ior-easy-read",
            MdtestEasyStat => "mdtest-easy-stat",
            IorHardRead => "ior-hard-read",
            MdtestHardStat => "mdtest-hard-stat",
            MdtestEasyDelete => "mdtest-easy-delete",
            MdtestHardRead => "mdtest-hard-read",
            MdtestHardDelete => "mdtest-hard-delete",
        }
    }

    /// What each thread does.
    pub fn what(self) -> &'static str {
        match self {
            EasyParents | EasyDirs | HardParents | HardDirs => "make directories",
            IorEasyWrite => {
                "write 2 MiB after 2 MiB to a file of its own; fsync at the end; limited"
            }
            MdtestEasyWrite => "create empty files in a directory of its own; limited",
            IorHardWrite => {
                "write 47008 bytes in turns with all others to one file; fsync at the end; limited"
            }
            MdtestHardWrite => "create files of 3901 bytes in the one directory of all; limited",
            Find => {
                "list directories; look up files with 01 in their names, count those of the right size"
            }
            IorEasyRead => "read the file of the next rank",
            MdtestEasyStat => "stat the files of the next rank",
            IorHardRead => "read the blocks of the next rank",
            MdtestHardStat => "stat the files of the next rank",
            MdtestEasyDelete => "remove the files of the rank 3 further",
            MdtestHardRead => "read the files of the rank 2 further",
            MdtestHardDelete => "remove the files of the rank 3 further",
        }
    }

    /// Whether it belongs to the hard half.
    pub fn is_hard(self) -> bool {
        matches!(
            self,
            HardParents
                | HardDirs
                | IorHardWrite
                | MdtestHardWrite
                | IorHardRead
                | MdtestHardStat
                | MdtestHardRead
                | MdtestHardDelete
        )
    }

    /// Whether a limit of time ends it.
    pub fn is_limited(self) -> bool {
        matches!(self, IorEasyWrite | MdtestEasyWrite | IorHardWrite | MdtestHardWrite)
    }

    /// The bytes of an operation, where its rate is one of bytes.
    pub fn block(self) -> Option<u64> {
        match self {
            IorEasyWrite | IorEasyRead => Some(EASY_BLOCK),
            IorHardWrite | IorHardRead => Some(HARD_BLOCK),
            _ => None,
        }
    }

    /// The operation on a tree, and how many ranks further the files are.
    fn on_tree(self) -> Option<(TreeOperation, u32)> {
        Some(match self {
            EasyParents | HardParents => (TreeOperation::MakeParents, 0),
            EasyDirs | HardDirs => (TreeOperation::MakeDir, 0),
            MdtestEasyWrite | MdtestHardWrite => (TreeOperation::Create, 0),
            MdtestEasyStat | MdtestHardStat => (TreeOperation::Stat, 1),
            MdtestHardRead => (TreeOperation::Read, 2),
            MdtestEasyDelete | MdtestHardDelete => (TreeOperation::Unlink, 3),
            _ => return None,
        })
    }
}

/// The rows of results.
pub fn rows(kind: Io500Kind) -> Vec<RowName> {
    kind.phases().map(|phase| RowName::alone(phase.name())).collect()
}

/// What find looks for: names with 01 in them, of the size that only files of mdtest-hard have.
pub fn wanted(kind: Io500Kind) -> FindMatch {
    let bytes = if kind == Io500Kind::All { HARD_FILE_BYTES } else { 0 };
    FindMatch { name: "01".to_owned(), bytes: Some(bytes) }
}

/// How much each thread did in the phases that a limit of time ends; all did as much.
#[derive(Clone, Copy, Debug)]
pub struct Amounts {
    easy_blocks: u64,
    hard_blocks: u64,
    easy_files: u64,
    hard_files: u64,
}

impl Default for Amounts {
    fn default() -> Amounts {
        Amounts { easy_blocks: 0, hard_blocks: 0, easy_files: u64::MAX, hard_files: u64::MAX }
    }
}

/// Where the phases take place.
pub struct Io500Stage {
    root: PathBuf,
    easy: MetaOptions,
    hard: MetaOptions,
    limit: Nanos,
    /// Blocks that a thread writes at most.
    easy_blocks: u64,
    hard_blocks: u64,
}

impl Io500Stage {
    /// In the directory of a run.
    ///
    /// # Errors
    /// There is not the space for a block of each thread.
    pub fn new(
        options: &Io500Options,
        root: &Path,
        easy: MetaOptions,
        hard: MetaOptions,
    ) -> Result<Io500Stage, String> {
        let state = FileSystem::of(root).map_err(|error| format!("{}: {error}", root.display()))?;
        let free = state.available_bytes;
        let blocks =
            |percent: u64, block: u64| free / 100 * percent / u64::from(easy.threads) / block;
        let (easy_blocks, hard_blocks) =
            (blocks(EASY_PERCENT, EASY_BLOCK), blocks(HARD_PERCENT, HARD_BLOCK));
        if easy_blocks == 0 || hard_blocks == 0 {
            return Err(format!("{}: too little space is free", options.dir.display()));
        }
        let limit = Nanos(options.limit.as_nanos() as u64);
        Ok(Io500Stage { root: root.to_owned(), easy, hard, limit, easy_blocks, hard_blocks })
    }

    /// What a phase does, and this rank's jobs in it.
    pub fn step(&self, phase: Io500Phase, amounts: &Amounts) -> (Step, StepJobs) {
        let step = Step {
            rows: vec![RowName::alone(phase.name())],
            changes: false,
            wears_out: phase.is_limited(),
            title: if phase.name().is_empty() { "directories" } else { phase.name() }.to_owned(),
            operations: 0,
        };
        let jobs = match phase {
            IorEasyWrite => self.ior(phase, self.easy_blocks),
            IorHardWrite => self.ior(phase, self.hard_blocks),
            IorEasyRead => self.ior(phase, amounts.easy_blocks),
            IorHardRead => self.ior(phase, amounts.hard_blocks),
            Find => self.find(),
            _ => self.on_tree(phase, amounts),
        };
        (step, jobs)
    }

    /// Remember how much was made.
    pub fn note(&self, phase: Io500Phase, done: &[u64], amounts: &mut Amounts) {
        let most = done.iter().copied().max().unwrap_or(0);
        // Without a limit that ended it, a thread may have had one file more than another.
        let files = |options: &MetaOptions| {
            let parts = parts(options, TreeOperation::Create, u64::MAX);
            let are_whole = parts.iter().zip(done).all(|(part, &done)| done >= part.count);
            if are_whole { u64::MAX } else { most.max(1) }
        };
        match phase {
            IorEasyWrite => amounts.easy_blocks = most,
            IorHardWrite => amounts.hard_blocks = most,
            MdtestEasyWrite => amounts.easy_files = files(&self.easy),
            MdtestHardWrite => amounts.hard_files = files(&self.hard),
            _ => {}
        }
    }

    fn on_tree(&self, phase: Io500Phase, amounts: &Amounts) -> StepJobs {
        let Some((operation, ranks_further)) = phase.on_tree() else { return Ok(None) };
        let (options, made) = if phase.is_hard() {
            (&self.hard, amounts.hard_files)
        } else {
            (&self.easy, amounts.easy_files)
        };
        let shift = ranks_further * options.own.len() as u32 % options.threads;
        let options = MetaOptions { shift, removes_shifted: true, ..options.clone() };
        plan(&options, operation, &self.root, made)
    }

    /// The directories of both trees; a directory is listed by one thread.
    fn find(&self) -> StepJobs {
        let mut jobs = Vec::new();
        for (options, is_hard) in [(&self.easy, false), (&self.hard, true)] {
            if is_hard && options.matched.bytes == Some(0) {
                continue;
            }
            jobs.extend(crate::jobs::jobs(options, TreeOperation::Find, &self.root, 1)?);
        }
        let owners = vec![0; jobs.len()];
        planned(jobs, owners)
    }

    /// The jobs of IOR's phases.
    fn ior(&self, phase: Io500Phase, blocks: u64) -> StepJobs {
        let threads = u64::from(self.easy.threads);
        let reads = !phase.is_limited();
        let job = |own: u32| -> Result<JobBuilder, String> {
            let further = if reads { self.easy.own.len() as u32 } else { 0 };
            let part = u64::from((own + further) % self.easy.threads);
            let (path, block) = if phase.is_hard() {
                (self.root.join("ior-hard"), HARD_BLOCK)
            } else {
                (self.root.join(format!("ior-easy.{part}")), EASY_BLOCK)
            };
            let word = if reads { RwWord::Read } else { RwWord::Write };
            let mut job = JobBuilder::new(phase.name(), &path);
            job.set(|spec| &mut spec.engine.ioengine, EngineName::Known("psync"))
                .set(|spec| &mut spec.order.rw, Rw { word, every: 1, skip: 0 })
                .set(|spec| &mut spec.block.bs, Triple([Bytes(block); 3]));
            if phase.is_hard() {
                let span = (blocks * threads).saturating_sub(part) * block;
                job.set(|spec| &mut spec.zones.zonemode, ZoneMode::Strided)
                    .set(|spec| &mut spec.zones.zonesize, Bytes(block))
                    .set(|spec| &mut spec.zones.zonerange, Bytes(block * threads))
                    .set(|spec| &mut spec.order.offset, Amount::Bytes(part * block))
                    .set(|spec| &mut spec.size.size, Some(Amount::Bytes(span)))
                    .set(|spec| &mut spec.size.io_size, Some(Amount::Bytes(blocks * block)));
            } else {
                job.set(|spec| &mut spec.size.size, Some(Amount::Bytes(blocks * block)));
            }
            if !reads {
                let limit = self.limit;
                job.set(|spec| &mut spec.time.runtime, limit)
                    .set(|spec| &mut spec.time.wear_out, true);
                for (name, text) in [("fallocate", "none"), ("end_fsync", "1")] {
                    job.set_text(name, text).map_err(|error| format!("{name}: {error:?}"))?;
                }
            }
            Ok(job)
        };
        let jobs: Result<Vec<JobBuilder>, String> = self.easy.own.clone().map(job).collect();
        let owners = vec![0; self.easy.own.len()];
        planned(jobs?, owners)
    }
}
