//! The trigger: a file that appears, or a moment, ends the run, saves the state
//! of each job, and has a command run.

use super::interval::Interval;
use crate::job::{JobPlan, Plan, TriggerPlan};
use iosonde_sys::guard;
use iosonde_sys::process;
use iosonde_verify::StateFile;
use std::io::{self, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How often the file is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// A trigger that waits.
pub(super) struct Trigger {
    plan: TriggerPlan,
    timeout: Option<Instant>,
    look: Interval,
    fired: bool,
}

impl Trigger {
    /// Its time begins now. None if the plan has none.
    pub(super) fn of(plan: &Plan) -> Option<Trigger> {
        let plan = plan.trigger.as_deref()?.clone();
        Some(Trigger {
            timeout: plan.timeout.map(|timeout| Instant::now() + Duration::from_nanos(timeout.0)),
            look: Interval::new(plan.file.as_ref().map(|_| LOOK)),
            fired: false,
            plan,
        })
    }

    /// Whether it has ended the run.
    pub(super) fn has_fired(&self) -> bool {
        self.fired
    }

    /// When it is looked at next.
    pub(super) fn due(&self) -> Option<Instant> {
        if self.fired { None } else { [self.timeout, self.look.due].into_iter().flatten().min() }
    }

    /// Whether it fires: once. The file is removed then; what is no file, or cannot be
    /// removed, fires all the same.
    pub(super) fn fires(&mut self) -> bool {
        if self.fired {
            return false;
        }
        let timed = self.timeout.is_some_and(|timeout| Instant::now() >= timeout);
        let there = |file: &Path| file.exists();
        let asked = self.look.is_due() && self.plan.file.as_deref().is_some_and(there);
        self.fired = timed || asked;
        if let (true, Some(file)) = (asked, &self.plan.file)
            && is_no_device(file)
        {
            // What is left behind is the user's to remove.
            let _ = std::fs::remove_file(file);
        }
        self.fired
    }

    /// All jobs have ended: save the state of those that do not save their own,
    /// and run the command. What went wrong, if anything did.
    pub(super) fn finish(self, plan: &Plan) -> Option<String> {
        if !self.fired {
            return None;
        }
        let without = plan.jobs.iter().filter(|job| job.verify.is_none());
        let save = |job: &JobPlan| save_state(job, &self.plan.directory).err();
        // One that fails keeps no other from being saved.
        let failed: Vec<String> = without.filter_map(save).collect();
        let ran = self.plan.command.as_ref().map(|command| run(command, self.plan.to_stderr));
        failed.into_iter().next().or(ran.and_then(Result::err))
    }
}

/// Whether a name leads to a file: a node of a device is not made by whoever ends a run.
fn is_no_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// The state of a job that verifies nothing: no writes. A reader of all states
/// finds one for each job.
fn save_state(job: &JobPlan, directory: &Path) -> Result<(), String> {
    let index = u64::from(job.number).saturating_sub(1);
    let state = StateFile {
        job: index,
        name: job.name.clone(),
        in_flight: vec![Some(0); job.window.depth as usize],
        ..StateFile::default()
    };
    let path = directory.join(StateFile::file_name("local", &job.name, index));
    let created = guard::create_output(&path).map_err(io::Error::from);
    let written = created.and_then(|mut file| {
        file.write_all(&state.encode())?;
        // It is there for the case that the system stops.
        file.sync_all()
    });
    written.map_err(|error| format!("cannot write the state file {}: {error}", path.display()))
}

/// Run a command by the shell, to its end.
fn run(command: &str, to_stderr: bool) -> Result<(), String> {
    let output = || {
        if to_stderr { process::standard_error_for_program() } else { Ok(Stdio::inherit()) }
    };
    let ended = output()
        .and_then(|output| process::shell(command).stdin(Stdio::null()).stdout(output).status());
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the trigger command ended with {status}")),
        Err(error) => Err(format!("cannot run the trigger command: {error}")),
    }
}
