//! Running one step: the jobs of one phase, or of several at a time, together with other ranks.

use crate::live::StepLine;
use crate::ranks::Ranks;
use crate::result::{PhaseResult, RowName};
use crate::watch::{Disks, dentries, drop_caches};
use iosonde_base::Nanos;
use iosonde_engine::tree::take_found;
use iosonde_run::job::Plan;
use iosonde_run::worker::JobResult;
use iosonde_session::{Measured, RunEnd, RunRules, Session, Work};
use iosonde_stats::HistogramSnapshot;
use iosonde_sys::counters::TaskIo;
use std::path::Path;
use std::time::Instant;

/// What a step is.
pub struct Step {
    /// The rows of results that come out of it.
    pub rows: Vec<RowName>,
    /// A sync after it has something to write.
    pub changes: bool,
    /// Its jobs have `wear_out`.
    pub wears_out: bool,
    /// For the live line: what is done.
    pub title: String,
    /// How many operations all threads of all ranks do; 0 if that is not known.
    pub operations: u64,
}

/// The jobs of a step, each with the row that it belongs to; none where this rank has nothing to do.
pub type StepJobs = Result<Option<(Plan, Vec<usize>)>, String>;

/// How a step ended.
pub struct StepEnd {
    /// Its results, by rows.
    pub rows: Vec<PhaseResult>,
    /// How many operations each job did.
    pub done: Vec<u64>,
    /// Why no other step follows, if so.
    pub end: Option<RunEnd>,
}

/// Runs steps until a signal comes.
pub struct StepRunner<'a> {
    pub session: Session,
    pub disks: Disks,
    /// Caches are emptied before each step.
    pub cold: bool,
    /// The directory whose file system is synced.
    pub root: &'a Path,
    pub live: StepLine,
    /// A second signal came while a step did not end: its threads still run.
    pub abandoned: bool,
}

impl StepRunner<'_> {
    /// Run a step.
    ///
    /// # Errors
    /// Nothing was measured: why.
    pub fn run(
        &mut self,
        step: &Step,
        jobs: StepJobs,
        ranks: &mut Option<&mut Ranks>,
    ) -> Result<StepEnd, RunEnd> {
        let (plan, owners) = match jobs {
            Ok(Some(jobs)) => jobs,
            Ok(None) => return self.idle(step, Ok(()), ranks),
            Err(why) => return self.idle(step, Err(why), ranks),
        };
        let ready = match self.session.open(Work::Planned(plan), &RunRules::held()) {
            Ok(ready) => ready,
            Err(end) => {
                // The others wait at the start.
                let _ = self.idle(step, Err(end.to_string()), ranks);
                return Err(end);
            }
        };
        if self.cold {
            drop_caches().map_err(RunEnd::failed)?;
        }
        take_found();
        let (dentries_before, before) = (dentries(), self.disks.read());
        let io_before = TaskIo::of_process().ok();
        self.live.begin(&step.title, step.operations);
        let measured = ready.run(&mut self.live, ranks.as_mut().map(|ranks| ranks.peers()))?;
        self.live.clear();
        let during = self.disks.since(before);
        let io = io_before.zip(TaskIo::of_process().ok());
        let fetched = io.map(|(before, after)| after.since(&before).storage_read_bytes);
        self.abandoned |= measured.outcome.abandoned;
        let end = ended(&measured);
        let dentries = dentries_before.zip(dentries());
        let before = self.disks.read();
        let synced = match &end {
            None if step.changes => Some(sync(self.root).map_err(RunEnd::failed)?),
            _ => None,
        };
        let after = synced.and_then(|_| self.disks.since(before));
        let spans = measured.outcome.spans.iter().flatten();
        let began_unix_ns = spans.map(|span| span.began_unix_ns).min().unwrap_or(0);
        let results = measured.outcome.results;
        let done = results.iter().map(|result| result.as_ref().map_or(0, operations)).collect();
        let rows = step.rows.iter().enumerate().map(|(at, &row)| {
            let own = results.iter().zip(&owners).filter(|(_, owner)| **owner == at);
            let own: Vec<&JobResult> = own.filter_map(|(result, _)| result.as_ref()).collect();
            let all = added(row, &own, began_unix_ns);
            let found = (row.word == "find").then(take_found);
            let partial = end.is_some();
            PhaseResult { synced, fetched, during, after, dentries, found, partial, ..all }
        });
        Ok(StepEnd { rows: rows.collect(), done, end })
    }

    /// A step in which this rank has nothing to do; others wait for it all the same.
    fn idle(
        &self,
        step: &Step,
        own: Result<(), String>,
        ranks: &mut Option<&mut Ranks>,
    ) -> Result<StepEnd, RunEnd> {
        match ranks {
            None => own.map_err(RunEnd::failed)?,
            Some(ranks) => {
                ranks.pass(own, step.wears_out, &self.session).map_err(|why| {
                    if self.session.is_stopped() {
                        RunEnd::Stopped { twice: false }
                    } else {
                        RunEnd::failed(why)
                    }
                })?;
            }
        }
        let rows = step.rows.iter().map(|&row| added(row, &[], 0)).collect();
        Ok(StepEnd { rows, done: Vec::new(), end: None })
    }
}

/// Why no other step follows.
fn ended(measured: &Measured) -> Option<RunEnd> {
    let by_others = measured.outcome.peers_ended.as_ref().map(RunEnd::failed);
    let failed =
        || measured.failed_job().map(|(job, why)| RunEnd::failed(format!("FAILED: {job}: {why}")));
    measured.stopped().or(by_others).or_else(failed)
}

fn operations(result: &JobResult) -> u64 {
    result.snapshot.lanes.iter().map(|lane| lane.ios).sum()
}

/// The results of a row's threads, added up.
fn added(row: RowName, results: &[&JobResult], began_unix_ns: u64) -> PhaseResult {
    let mut latency = HistogramSnapshot::default();
    let mut longest = 0;
    for lane in results.iter().flat_map(|result| &result.snapshot.lanes) {
        longest = longest.max(lane.clat.max);
        lane.clat_histogram.iter().for_each(|histogram| latency.merge(histogram));
    }
    let times = || results.iter().map(|result| result.runtime);
    PhaseResult {
        row,
        operations: results.iter().map(|result| operations(result)).sum(),
        threads: results.len(),
        began_unix_ns,
        first_done: times().min().unwrap_or_default(),
        last_done: times().max().unwrap_or_default(),
        latency,
        longest: Nanos(longest),
        synced: None,
        fetched: None,
        during: None,
        after: None,
        dentries: None,
        found: None,
        partial: false,
        ranks: Vec::new(),
    }
}

/// syncfs(2) of the file system of `root`, and how long it took.
fn sync(root: &Path) -> Result<Nanos, String> {
    let begun = Instant::now();
    iosonde_sys::files::sync_file_system_of(root)
        .map_err(|error| format!("cannot sync the file system of {}: {error}", root.display()))?;
    Ok(Nanos(begun.elapsed().as_nanos() as u64))
}
