//! What is done between two runs, so that the first does not burden the second.

use iosonde_direct::stack::{Layer, Stack};
use iosonde_run::job::{JobPlan, Plan};
use iosonde_session::{RunEnd, Session, write_back, written};
use iosonde_sys::counters::DiskCounters;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

/// What to do between runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BetweenRuns {
    /// Sync buffered writes; after direct ones wait for quiet disks.
    Auto,
    /// Nothing.
    Nothing,
    /// Write back what jobs have written.
    Sync,
    /// Wait until the disks are quiet, at most 10 s.
    Settle,
    /// Run a command of the user's in a shell.
    Command(String),
}

impl BetweenRuns {
    /// As typed: `none`, `sync`, `settle`, or a command.
    pub fn parse(word: &str) -> Result<BetweenRuns, String> {
        Ok(match word {
            "" => return Err("needs a value: use auto, none, sync, settle or a command".into()),
            "auto" => BetweenRuns::Auto,
            "none" => BetweenRuns::Nothing,
            "sync" => BetweenRuns::Sync,
            "settle" => BetweenRuns::Settle,
            command => BetweenRuns::Command(command.to_owned()),
        })
    }

    /// Do it after a run of `plan`.
    ///
    /// # Errors
    /// Data cannot be written back, or the command fails.
    pub fn act(&self, plan: &Plan, session: &Session) -> Result<(), RunEnd> {
        match self {
            BetweenRuns::Nothing => Ok(()),
            BetweenRuns::Sync => write_back(plan),
            BetweenRuns::Settle => {
                settle(plan, session);
                Ok(())
            }
            BetweenRuns::Command(command) => shell(command),
            BetweenRuns::Auto => {
                write_back(plan)?;
                let is_direct = |(job, _): &(&JobPlan, _)| job.open.mode.direct;
                if written(plan).any(|file| is_direct(&file)) {
                    settle(plan, session);
                }
                Ok(())
            }
        }
    }
}

/// Run a command line of the user's.
///
/// # Errors
/// It cannot be started, or does not succeed.
pub fn shell(command: &str) -> Result<(), RunEnd> {
    let failed = |why: String| RunEnd::failed(format!("the command {command:?}: {why}"));
    // Its output must not come between ours, which may be a document.
    let ran = Command::new("/bin/sh").args(["-c", command]).stdout(std::io::stderr()).status();
    match ran {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("failed ({status})"))),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// A disk with less traffic than this is quiet.
const QUIET_BYTES_PER_S: f64 = (1 << 20) as f64;
/// Disks that are not quiet by then will not be.
const PATIENCE: Duration = Duration::from_secs(10);
/// The kernel counts in these, whatever the disk has.
const SECTOR_BYTES: u64 = 512;
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Wait until the disks below the written files are quiet.
fn settle(plan: &Plan, session: &Session) {
    let mut disks: BTreeSet<String> = BTreeSet::new();
    for (_, file) in written(plan) {
        // Without a known disk there is nothing to wait for.
        let Ok(stack) = Stack::under(&file.path) else { continue };
        disks.extend(stack.devices.iter().flat_map(Layer::walk).map(|layer| layer.name.clone()));
    }
    let count = || -> u64 {
        let counters = disks.iter().filter_map(|disk| DiskCounters::of(disk).ok());
        counters.map(|disk| (disk.read_sectors + disk.write_sectors) * SECTOR_BYTES).sum()
    };
    let begun = Instant::now();
    let mut before = count();
    while begun.elapsed() < PATIENCE && !session.is_stopped() && !disks.is_empty() {
        session.wait(LOOK_EVERY);
        let now = count();
        if (now.saturating_sub(before)) as f64 / LOOK_EVERY.as_secs_f64() < QUIET_BYTES_PER_S {
            break;
        }
        before = now;
    }
}
