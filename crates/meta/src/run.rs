//! Running the phases, one after the other.

use crate::arguments::MetaOptions;
use crate::jobs::plan;
use crate::phase::changes;
use crate::ranks::{self, Ranks};
use crate::result::{MetaResult, PhaseResult};
use crate::root::RunRoot;
use crate::watch::{Disks, dentries, drop_caches};
use iosonde_base::{Nanos, text};
use iosonde_engine::tree::TreeOperation;
use iosonde_run::conductor::Unseen;
use iosonde_run::worker::JobResult;
use iosonde_session::{RunEnd, RunRules, Session, Work};
use iosonde_stats::HistogramSnapshot;
use iosonde_sys::counters::TaskIo;
use iosonde_sys::stack::Stack;
use iosonde_sys::standard_error;
use iosonde_sys::status_line;
use std::path::Path;
use std::time::Instant;

/// Runs phases until a signal comes.
struct PhaseRunner<'a> {
    options: &'a MetaOptions,
    disks: Disks,
    session: Session,
    /// A second signal came while a phase did not end: its threads still run.
    abandoned: bool,
}

/// Measure, in a new directory that is gone afterwards: of several ranks, at rank 0, what all did.
///
/// # Errors
/// Why nothing could be measured.
pub fn measure(
    options: &MetaOptions,
    words: &[String],
    ranks: &mut Option<&mut Ranks>,
) -> Result<MetaResult, String> {
    let session = Session::listening().map_err(|end| end.to_string())?;
    if options.cold {
        drop_caches()?;
    }
    let mut root = match ranks {
        None => RunRoot::make(options)?,
        Some(ranks) => RunRoot::among(options, words, ranks)?,
    };
    let disks = Disks::under(&options.dir);
    let mut result = described(options, &disks);
    let mut runner = PhaseRunner { options, disks, session, abandoned: false };
    runner.rounds(&mut result, root.path(), ranks);
    status_line::clear();
    if let Some(ranks) = ranks {
        gather(&mut result, ranks, &runner.session);
    }
    if runner.abandoned {
        standard_error::print_line(format_args!(
            "iosonde: the storage does not answer; {} may be left there",
            root.path().display()
        ));
        root.keep();
    } else if options.keep {
        if ranks.as_ref().is_none_or(|ranks| ranks.speaks()) {
            let path = root.path().display();
            standard_error::print_line(format_args!("iosonde: the tree is in {path}"));
        }
        root.keep();
    }
    Ok(result)
}

/// Put the phases of all ranks in the place of this one's, at rank 0.
fn gather(result: &mut MetaResult, ranks: &mut Ranks, session: &Session) {
    let mut own = ranks.result();
    own.note(&result.rounds, (result.stopped, result.error.clone()));
    let (results, missing) = ranks.gather(&own, session);
    if ranks.speaks() {
        result.rounds = ranks::merged(&result.options.phases, &results);
        (result.stopped, result.error) = ranks::ending(&results);
    }
    if let Err(why) = missing {
        result.error.get_or_insert(why);
    }
}

impl PhaseRunner<'_> {
    /// All phases as often as is wanted; until a signal, or an error.
    fn rounds(&mut self, result: &mut MetaResult, root: &Path, ranks: &mut Option<&mut Ranks>) {
        let options = self.options;
        let speaks = ranks.as_ref().is_none_or(|ranks| ranks.speaks());
        for round in 0..options.repeat {
            result.rounds.push(Vec::new());
            for (number, &operation) in (1..).zip(&options.phases) {
                if speaks {
                    let (word, phases) = (operation.word(), options.phases.len());
                    let line = format!("{word} ({number}/{phases}, round {})", round + 1);
                    status_line::draw(&line);
                }
                match self.phase(operation, root, ranks) {
                    Ok(phase) => result.rounds[round as usize].push(phase),
                    Err(end) => {
                        if let Some(ranks) = ranks {
                            ranks.stop_all(&end.to_string());
                        }
                        match end {
                            RunEnd::Stopped { .. } => result.stopped = true,
                            RunEnd::Failed(_) => result.error = Some(end.to_string()),
                        }
                        return;
                    }
                }
            }
        }
    }

    /// A phase in which this rank has nothing to do; others wait for it all the same.
    fn idle(
        &self,
        operation: TreeOperation,
        own: Result<(), String>,
        ranks: &mut Option<&mut Ranks>,
    ) -> Result<PhaseResult, RunEnd> {
        match ranks {
            None => own.map_err(RunEnd::failed)?,
            Some(ranks) => ranks.pass(own, &self.session).map_err(|why| {
                if self.session.is_stopped() {
                    RunEnd::Stopped { twice: false }
                } else {
                    RunEnd::failed(why)
                }
            })?,
        }
        Ok(added(operation, &[], 0))
    }

    fn phase(
        &mut self,
        operation: TreeOperation,
        root: &Path,
        ranks: &mut Option<&mut Ranks>,
    ) -> Result<PhaseResult, RunEnd> {
        let plan = match plan(self.options, operation, root) {
            Ok(plan) if !plan.jobs.is_empty() => plan,
            Ok(_) => return self.idle(operation, Ok(()), ranks),
            Err(why) => return self.idle(operation, Err(why), ranks),
        };
        let ready = match self.session.open(Work::Planned(plan), &RunRules::held()) {
            Ok(ready) => ready,
            Err(end) => {
                // The others wait at the start.
                let _ = self.idle(operation, Err(end.to_string()), ranks);
                return Err(end);
            }
        };
        if self.options.cold {
            drop_caches().map_err(RunEnd::failed)?;
        }
        let (dentries_before, before) = (dentries(), self.disks.read());
        let io_before = TaskIo::of_process().ok();
        let measured = ready.run(&mut Unseen, ranks.as_mut().map(|ranks| ranks.peers()))?;
        let during = self.disks.since(before);
        let io = io_before.zip(TaskIo::of_process().ok());
        let fetched = io.map(|(before, after)| after.since(&before).storage_read_bytes);
        self.abandoned |= measured.outcome.abandoned;
        if let Some(end) = measured.stopped() {
            return Err(end);
        }
        if let Some(why) = &measured.outcome.peers_ended {
            return Err(RunEnd::failed(why));
        }
        let dentries = dentries_before.zip(dentries());
        let before = self.disks.read();
        let synced =
            if changes(operation) { Some(sync(root).map_err(RunEnd::failed)?) } else { None };
        let after = synced.and_then(|_| self.disks.since(before));
        if let Some((_, why)) = measured.failed_job() {
            return Err(RunEnd::failed(format!("FAILED: {}: {why}", operation.word())));
        }
        let spans = measured.outcome.spans.iter().flatten();
        let began_unix_ns = spans.map(|span| span.began_unix_ns).min().unwrap_or(0);
        let results: Vec<JobResult> = measured.outcome.results.into_iter().flatten().collect();
        let all = added(operation, &results, began_unix_ns);
        Ok(PhaseResult { synced, fetched, during, after, dentries, ..all })
    }
}

/// The results of a phase's threads, added up.
fn added(operation: TreeOperation, results: &[JobResult], began_unix_ns: u64) -> PhaseResult {
    let mut latency = HistogramSnapshot::default();
    let (mut operations, mut longest) = (0, 0);
    for lane in results.iter().flat_map(|result| &result.snapshot.lanes) {
        operations += lane.ios;
        longest = longest.max(lane.clat.max);
        lane.clat_histogram.iter().for_each(|histogram| latency.merge(histogram));
    }
    let times = || results.iter().map(|result| result.runtime);
    PhaseResult {
        operation,
        operations,
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

/// A result without phases.
fn described(options: &MetaOptions, disks: &Disks) -> MetaResult {
    let file_system = Stack::under(&options.dir).ok().and_then(|stack| stack.mount);
    let file_system = file_system.map(|mount| mount.filesystem);
    let trees = match (options.shared, options.threads) {
        (_, 1) => "1 thread".to_owned(),
        (true, threads) => format!("{threads} threads in one tree"),
        (false, threads) => format!("{threads} threads with a tree each"),
    };
    let ranks = options.threads / (options.own.len() as u32).max(1);
    let trees = if ranks > 1 { format!("{trees}, on {ranks} ranks") } else { trees };
    let mut title = format!(
        "{} of {} in all, in {}, {trees}: {}",
        text::counted(options.files, "file"),
        text::bytes(options.bytes()),
        text::counted(options.dirs, "directory"),
        options.dir.display()
    );
    for word in file_system.iter().chain(&disks.names) {
        title += &format!(", {word}");
    }
    MetaResult {
        title,
        file_system,
        disks: disks.names.clone(),
        options: options.clone(),
        rounds: Vec::new(),
        stopped: false,
        error: None,
    }
}
