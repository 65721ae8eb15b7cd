//! One run of jobs to its result as JSON.

use super::progress::RunLine;
use crate::exit;
use crate::personality::Personality;
use crate::prepare::{PrepareError, Prepared, prepare_parsed};
use crate::report_formats::text;
use crate::run_jobs::{report_context, with_flags};
use crate::{judged, settings};
use iosonde_report::Report;
use iosonde_run::account::{ReportExtras as ReportContext, disks, report};
use iosonde_run::conductor::{Observer, RunEvent, RunOutcome, conduct, signals};
use iosonde_run::job::Plan;
use iosonde_run::preflight::open_files;
use iosonde_run::preflight::write_access::{self, DeviceData};
use iosonde_run::worker::JobResult;
use iosonde_spec::cli::Parsed;
use iosonde_spec::cli::flags::{Flags, OutputFormat};
use rustix::process::{Signal, getpid, kill_process};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialError {
    /// A signal asks for the end.
    Stopped {
        /// It came twice: jobs still run.
        twice: bool,
    },
    /// In words.
    Failed(String),
}

/// The result of one run.
pub struct TrialRun {
    /// What was measured.
    pub report: Report,
    /// How long it took with all that is around it.
    pub wall: Duration,
    /// What ran: its files are settled before the next run.
    pub plan: Arc<Plan>,
    flags: Flags,
}

impl TrialRun {
    /// The report as JSON with all latency bins.
    pub fn document(&self) -> String {
        text(Personality::Native, &self.flags, &self.report)
    }
}

/// Runs jobs until a signal comes.
#[derive(Clone, Debug)]
pub struct TrialRunner {
    stop: Arc<AtomicBool>,
}

impl TrialRunner {
    /// Listen for signals, between runs too.
    ///
    /// # Errors
    /// The system does not let us.
    pub fn new() -> io::Result<TrialRunner> {
        Ok(TrialRunner { stop: signals::stop_flag()? })
    }

    /// Whether a signal asks for the end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Wait, but not beyond a signal.
    pub fn wait(&self, span: Duration) {
        let end = Instant::now() + span;
        while Instant::now() < end && !self.is_stopped() {
            std::thread::sleep(Duration::from_millis(50).min(span));
        }
    }

    /// Run jobs of our own, for what they do to the files and not for a result;
    /// `erase` names devices that may lose their data.
    ///
    /// # Errors
    /// A job fails, or a signal comes.
    pub fn run_plan(&self, plan: Plan, erase: &[String], line: &RunLine) -> Result<(), TrialError> {
        let plan = Arc::new(plan);
        let _held = hold(&plan, erase)?;
        self.conduct(&plan, line).map(drop)
    }

    /// Run jobs once; `line` shows how far they are.
    ///
    /// # Errors
    /// A job fails, or a signal comes.
    pub fn run(&self, parsed: &Parsed, line: &RunLine) -> Result<TrialRun, TrialError> {
        let begun = Instant::now();
        let mut parsed = parsed.clone();
        (parsed.flags.formats, parsed.flags.formats_given) = (vec![OutputFormat::JsonPlus], true);
        let Prepared { parsed, plan, notes, .. } = prepared(parsed)?;
        let plan = Arc::new(with_flags(plan, Personality::Native, &parsed.flags));
        let _held = hold(&plan, &parsed.flags.erase)?;
        let (outcome, disks) = self.conduct(&plan, line)?;
        let context = report_context(Personality::Native, &parsed, &notes);
        let ledger = judged::ledger(&parsed, &plan, &outcome);
        let settings = Some(settings::settings(&parsed, &plan));
        let context = ReportContext { disks, ledger, settings, ..context };
        let report = report(&plan, &outcome.results, &context);
        Ok(TrialRun { report, wall: begun.elapsed(), plan, flags: parsed.flags })
    }

    fn conduct(
        &self,
        plan: &Arc<Plan>,
        line: &RunLine,
    ) -> Result<(RunOutcome, disks::DiskUse), TrialError> {
        if self.is_stopped() {
            return Err(TrialError::Stopped { twice: false });
        }
        let failed = TrialError::Failed;
        let watched = disks::WatchedDisks::under(plan);
        let used = disks::DiskUse::default();
        let mut observer =
            TrialObserver { runner: self, line, heard: false, ticks: 0, watched, used };
        let outcome = conduct(plan.clone(), &mut observer)
            .map_err(|error| failed(format!("cannot listen for signals: {error}")))?;
        line.clear();
        if outcome.signal.is_some() {
            return Err(TrialError::Stopped { twice: outcome.abandoned });
        }
        check(plan, &outcome.results).map_err(failed)?;
        Ok((outcome, observer.used))
    }
}

/// The jobs as a plan, or why they do not run.
pub fn prepared(parsed: Parsed) -> Result<Prepared, TrialError> {
    let words = |refused: PrepareError| TrialError::Failed(refused.reasons.join("; "));
    prepare_parsed(Personality::Native, parsed).map_err(words)
}

/// The devices that are written to, locked so that nobody mounts one meanwhile.
fn hold(plan: &Plan, erase: &[String]) -> Result<impl Sized + use<>, TrialError> {
    let failed = TrialError::Failed;
    open_files::raise(plan).map_err(failed)?;
    write_access::devices(plan, DeviceData::Refuse(erase)).map_err(|refusals| {
        failed(refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    })
}

/// Refuse jobs that failed or did not start.
fn check(plan: &Plan, results: &[Option<JobResult>]) -> Result<(), String> {
    for (job, result) in plan.jobs.iter().zip(results) {
        let result = result.as_ref().ok_or_else(|| format!("job {}: did not start", job.name))?;
        if let Some(error) = &result.error {
            return Err(format!("job {}: {error}", job.name));
        }
    }
    Ok(())
}

/// Draws the line, counts the disks, and passes on a signal that the conductor
/// did not hear.
struct TrialObserver<'a> {
    runner: &'a TrialRunner,
    line: &'a RunLine,
    heard: bool,
    ticks: u32,
    watched: disks::WatchedDisks,
    /// What the disks did when the jobs ended.
    used: disks::DiskUse,
}

impl Observer for TrialObserver<'_> {
    fn see(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Stopping { .. } => self.heard = true,
            RunEvent::LayingOut { .. } => self.line.draw("laying out files"),
            RunEvent::Tick { elapsed, .. } => {
                self.line.draw(&format!("{:.0} s", elapsed.secs_f64()));
                if self.runner.is_stopped() && !self.heard {
                    self.ticks += 1;
                    // It came before the conductor listened, or it does not listen to this one.
                    if self.ticks == 2 {
                        // We are there, so it can be sent.
                        let _ = kill_process(getpid(), Signal::TERM);
                    }
                }
            }
            RunEvent::Ended => self.used = self.watched.used(),
            _ => {}
        }
    }

    fn every(&self) -> Option<Duration> {
        Some(Duration::from_millis(250))
    }
}

/// End under jobs that still run, as was asked twice.
pub fn give_up() -> ! {
    std::process::exit(exit::SIGNALLED.into())
}
