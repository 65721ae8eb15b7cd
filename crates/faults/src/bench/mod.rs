//! The bench: one seed is one job on failing storage, and what must come of it.
//!
//! Each scene makes a job and a script of faults from the dice of its seed,
//! runs iosonde, and compares its report with what was injected. What does not
//! agree is a [`Finding`]: a sentence and the command.

mod before;
mod buffers;
mod calls;
mod corruption;
mod errors;
mod files;
mod full;
mod interruptions;
mod job;
mod kill;
mod latencies;
mod machine;
mod outputs;
mod paced;
mod power;
mod program;
mod report;
mod seeds;
mod short;
mod swapped;

use crate::Dice;
use std::fmt;
use std::path::{Path, PathBuf};

pub use program::{Program, ProgramEnd};
pub use seeds::{SceneTotals, Seeds};

/// What a seed tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scene {
    /// EIO and ENOSPC of reads, writes and syncs.
    Errors,
    /// What is written is what options of buffers ask for.
    Buffers,
    /// Bits flipped, writes lost, torn or misdirected; headers with a wrong field.
    Corruption,
    /// Blocks that changed places, within a file or with another.
    Swapped,
    /// EINTR, short I/O, delays, hangs: nothing that may change data.
    Interruptions,
    /// Rates, by the clock of the storage.
    Paced,
    /// Histograms and percentiles, by a log of each I/O.
    Latencies,
    /// The power is cut; syncs were honoured or not.
    PowerCut,
    /// Files that do not fit.
    Full,
    /// open, stat, ftruncate, fallocate and close that fail.
    Files,
    /// Logs, recordings, states and reports where there is no room for them.
    Outputs,
    /// Signals at a random moment.
    Kill,
    /// System calls that fail, by strace.
    Calls,
    /// Devices that shrink, are detached or frozen; no space, no memory.
    Machine,
}

/// What runs a scene.
type RunScene = fn(Stage<'_>) -> Result<SeedResult, String>;

/// Each scene and how many seeds of [`ROUND`] are its.
const SCENES: [(Scene, u64, RunScene); 14] = [
    (Scene::Errors, 3, errors::run),
    (Scene::Buffers, 1, buffers::run),
    (Scene::Corruption, 3, corruption::run),
    (Scene::Swapped, 1, swapped::run),
    (Scene::Interruptions, 3, interruptions::run),
    (Scene::Paced, 1, paced::run),
    (Scene::Latencies, 1, latencies::run),
    (Scene::PowerCut, 2, power::run),
    (Scene::Calls, 2, calls::run),
    (Scene::Files, 2, files::run),
    (Scene::Outputs, 1, outputs::run),
    (Scene::Kill, 2, kill::run),
    (Scene::Full, 1, full::run),
    (Scene::Machine, 2, machine::run),
];
/// All of their seeds.
const ROUND: u64 = 25;
/// Seeds that follow each other are of different scenes: a step that has no factor
/// in common with the round reaches each place of it.
const STEP: u64 = 7;

/// The scene of this seed, and what runs it.
fn entry_of(seed: u64) -> (Scene, RunScene) {
    let mut place = seed % ROUND * STEP % ROUND;
    for (scene, seeds, run) in SCENES {
        match place.checked_sub(seeds) {
            None => return (scene, run),
            Some(rest) => place = rest,
        }
    }
    unreachable!("the seeds of all scenes are a round")
}

/// The scene of that name, in any case of letters; an error with all names.
pub fn scene_named(name: &str) -> Result<Scene, String> {
    let named = |scene: &Scene| format!("{scene:?}").eq_ignore_ascii_case(name);
    let scenes = SCENES.map(|(scene, ..)| scene);
    let names = || scenes.map(|scene| format!("{scene:?}")).join(", ");
    scenes.into_iter().find(named).ok_or_else(|| format!("unknown scene {name:?}: use {}", names()))
}

/// The scene of this seed.
pub fn scene_of(seed: u64) -> Scene {
    entry_of(seed).0
}

/// Something that was not as it must be.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is wrong.
    pub text: String,
    /// The command line of the job, and how it ended.
    pub ran: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.text, self.ran)
    }
}

/// What a seed has found.
#[derive(Clone, Debug, Default)]
pub struct SeedResult {
    /// How many faults were injected.
    pub injected: u64,
    /// What was wrong; nothing in the best case.
    pub findings: Vec<Finding>,
    /// Why the seed could not be tried here.
    pub skipped: Option<String>,
}

/// The program under test and a directory for its files.
#[derive(Clone, Debug)]
pub struct Bench {
    /// iosonde.
    pub program: PathBuf,
    /// An existing directory that is this bench's own.
    pub directory: PathBuf,
}

/// What a scene works with.
pub(crate) struct Stage<'a> {
    pub(crate) program: Program<'a>,
    /// Where the file system of faults is mounted.
    pub(crate) mount: PathBuf,
    /// For results, states and other files that no fault reaches.
    pub(crate) aside: PathBuf,
    pub(crate) dice: Dice,
    pub(crate) seed: u64,
}

impl Bench {
    /// Try one seed, in the calling thread, whose mounts are its own
    /// ([`with_own_mounts`](crate::with_own_mounts)).
    pub fn run(&self, seed: u64) -> SeedResult {
        let directory = self.directory.join(format!("seed-{seed}"));
        let (mount, aside) = (directory.join("mount"), directory.join("aside"));
        let made = std::fs::create_dir_all(&mount).and_then(|()| std::fs::create_dir_all(&aside));
        if let Err(error) = made {
            return SeedResult { skipped: Some(error.to_string()), ..SeedResult::default() };
        }
        let stage = Stage {
            program: Program { path: &self.program, directory: &aside },
            mount,
            aside: aside.clone(),
            dice: Dice::of(seed, &[1]),
            seed,
        };
        let result = entry_of(seed).1(stage);
        remove(&directory);
        result.unwrap_or_else(|why| SeedResult { skipped: Some(why), ..SeedResult::default() })
    }
}

fn remove(directory: &Path) {
    // A program that hangs may hold it; the directory of all seeds is removed in the end.
    let _ = std::fs::remove_dir_all(directory);
}

/// Findings of one run, as they are made.
pub(crate) struct Findings<'a> {
    ended: &'a ProgramEnd,
    found: Vec<Finding>,
}

impl<'a> Findings<'a> {
    /// What every run must hold: an end in time, no panic, no signal that ended it.
    pub(crate) fn of(ended: &'a ProgramEnd) -> Findings<'a> {
        let mut findings = Findings { ended, found: Vec::new() };
        findings.must(!ended.hung, || "it did not end in time".to_owned());
        findings.must(ended.hung || ended.killed_by.is_none(), || {
            format!("signal {:?} ended it", ended.killed_by)
        });
        findings.must(!ended.stderr.contains("panicked at"), || "it panicked".to_owned());
        findings
    }

    /// Note `otherwise` unless it is so.
    pub(crate) fn must(&mut self, is: bool, otherwise: impl FnOnce() -> String) {
        if !is {
            self.found.push(Finding { text: otherwise(), ran: self.ended.to_string() });
        }
    }

    pub(crate) fn end(self) -> Vec<Finding> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_of_seeds_has_each_scene_as_often_as_its_share() {
        for (scene, seeds, _) in SCENES {
            let found = (100..100 + ROUND).filter(|seed| scene_of(*seed) == scene).count();
            assert_eq!(found as u64, seeds, "{scene:?}");
        }
        assert!((0..ROUND).all(|seed| scene_of(seed) != scene_of(seed + 1)));
    }
}
