//! Writing the files or devices before the first run, so that all runs meet the
//! same state.

use clap::ValueEnum;
use iosonde_base::Dir;
use iosonde_options::{Amount, Bytes, Triple};
use iosonde_run::job::{FileKind, Plan};
use iosonde_run::plan::JobBuilder;
use iosonde_session::{RunEnd, RunLine, RunRules, Session, Work};
use iosonde_spec::values::{Rw, RwWord};
use std::path::PathBuf;

/// How to write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Precondition {
    /// Not
    None,
    /// Once, one block of 128 KiB after the other
    Fill,
    /// Twice, one block after the other
    #[value(name = "2x-seq")]
    TwiceSequential,
    /// Twice, then once more at random offsets, in blocks of 4 KiB
    #[value(name = "2x-seq+rand")]
    TwiceSequentialRandom,
}

/// A file or device, and how far the jobs reach into it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reach {
    path: PathBuf,
    bytes: u64,
    is_device: bool,
    direct: bool,
}

impl Precondition {
    /// Whether the plans' targets may be written, found out before anything
    /// runs.
    ///
    /// # Errors
    /// A device would be overwritten and no word of `erase` names one, or there
    /// is nothing to write.
    pub fn check(self, plans: &[Plan], erase: &[String]) -> Result<(), String> {
        if self == Precondition::None {
            return Ok(());
        }
        let all = reaches(plans);
        if all.is_empty() {
            return Err("--precondition: the jobs have no files or devices to write".into());
        }
        match all.iter().find(|reach| reach.is_device && erase.is_empty()) {
            Some(device) => Err(format!(
                "--precondition overwrites the device {}: if its data may be lost, add --erase= with its \
                 serial number, model or size",
                device.path.display()
            )),
            None => Ok(()),
        }
    }

    /// Write them.
    ///
    /// # Errors
    /// A write fails, or a signal comes.
    pub fn act(self, plans: &[Plan], erase: &[String], session: &Session) -> Result<(), RunEnd> {
        let passes: &[(RwWord, u64, u64)] = match self {
            Precondition::None => &[],
            Precondition::Fill => &[(RwWord::Write, SEQUENTIAL, 1)],
            Precondition::TwiceSequential => &[(RwWord::Write, SEQUENTIAL, 2)],
            Precondition::TwiceSequentialRandom => {
                &[(RwWord::Write, SEQUENTIAL, 2), (RwWord::RandWrite, RANDOM, 1)]
            }
        };
        for reach in reaches(plans) {
            if !passes.is_empty() {
                let place = reach.path.display();
                let what = if reach.is_device { "on this device" } else { "in this existing file" };
                session.name_loss(
                    &reach.path,
                    &format!("iosonde: warning: {place}: --precondition overwrites data {what}"),
                );
            }
            for (word, block, times) in passes {
                for time in 1..=*times {
                    let line = RunLine::new(format!(
                        "precondition {}, {} {time} of {times}",
                        reach.path.display(),
                        if *word == RwWord::Write { "sequential" } else { "random" },
                    ));
                    let rules = RunRules::may_erase(erase);
                    let plan = Work::Planned(planned(&reach, *word, *block)?);
                    session.measure(plan, &rules, &mut line.clone())?;
                    line.clear();
                }
            }
        }
        Ok(())
    }
}

/// Blocks of sequential writes, as in SNIA's tests.
const SEQUENTIAL: u64 = 128 << 10;
const RANDOM: u64 = 4 << 10;

/// What the jobs of all points reach, each file once.
fn reaches(plans: &[Plan]) -> Vec<Reach> {
    let mut all: Vec<Reach> = Vec::new();
    for job in plans.iter().flat_map(|plan| &plan.jobs) {
        for file in &job.files {
            if !matches!(file.kind, FileKind::Regular | FileKind::Block) {
                continue;
            }
            let bytes = file.range_end();
            match all.iter_mut().find(|reach| reach.path == file.path) {
                Some(known) => known.bytes = known.bytes.max(bytes),
                None => all.push(Reach {
                    path: file.path.clone(),
                    bytes,
                    is_device: file.kind == FileKind::Block,
                    direct: job.open.mode.direct && job.dirs != iosonde_base::PerDir::default(),
                }),
            }
        }
    }
    all.retain(|reach| reach.bytes >= RANDOM);
    all
}

fn planned(reach: &Reach, word: RwWord, block: u64) -> Result<Plan, RunEnd> {
    let mut job = JobBuilder::new("precondition", &reach.path);
    let block = block.min(reach.bytes);
    job.set(|spec| &mut spec.order.rw, Rw { word, every: 1, skip: 0 })
        .set(|spec| &mut spec.block.bs, Triple([Bytes(block); 3]))
        .set(|spec| &mut spec.size.size, Some(Amount::Bytes(reach.bytes / block * block)))
        .set(|spec| &mut spec.durability.direct, reach.direct)
        .set(|spec| &mut spec.durability.end_fsync, true);
    let plan = job.plan().map_err(|error| RunEnd::failed(error.to_string()))?;
    debug_assert!(plan.jobs.iter().all(|job| job.dirs[Dir::Write]));
    Ok(plan)
}
