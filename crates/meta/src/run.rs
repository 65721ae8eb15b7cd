//! Running the phases, one after the other.

use crate::arguments::MetaOptions;
use crate::jobs::{plan, plan_mix};
use crate::live::StepLine;
use crate::phase::changes;
use crate::ranks::{self, Ranks};
use crate::result::{MetaResult, PhaseResult, RowName};
use crate::root::RunRoot;
use crate::runner::{Step, StepEnd, StepRunner};
use crate::watch::{Disks, drop_caches};
use iosonde_base::text;
use iosonde_engine::tree::{TreeOperation, TreeSubject};
use iosonde_session::{RunEnd, Session};
use iosonde_sys::stack::Stack;
use iosonde_sys::standard_error;

/// What is done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaStep {
    /// One operation.
    Phase(TreeOperation),
    /// Several beside each other.
    Mix,
}

/// The steps of a round, in order: a mix comes before files are renamed or removed.
pub fn steps(options: &MetaOptions) -> Vec<MetaStep> {
    let mut steps: Vec<MetaStep> = options.phases.iter().copied().map(MetaStep::Phase).collect();
    if !options.mix.is_empty() {
        let is_late = |step: &MetaStep| {
            use TreeOperation::{Rename, SyncDir};
            let MetaStep::Phase(operation) = step else { return false };
            matches!(operation, Rename | SyncDir) || crate::phase::REMOVING.contains(operation)
        };
        let at = steps.iter().position(is_late).unwrap_or(steps.len());
        steps.insert(at, MetaStep::Mix);
    }
    steps
}

/// The rows of a round, in order.
pub fn rows(options: &MetaOptions) -> Vec<RowName> {
    steps(options).into_iter().flat_map(|step| rows_of(step, options)).collect()
}

fn rows_of(step: MetaStep, options: &MetaOptions) -> Vec<RowName> {
    match step {
        MetaStep::Phase(operation) => vec![RowName::alone(operation.word())],
        MetaStep::Mix => {
            let mixed = |word| RowName { word, is_mixed: true };
            options.mix.iter().map(|part| mixed(part.operation.word())).collect()
        }
    }
}

/// Measure, in a new directory that is gone once what comes back with the result is dropped: to
/// remove a large tree takes longer than launchers leave after Ctrl-C. Of several ranks, at rank 0,
/// what all did.
///
/// # Errors
/// Why nothing could be measured.
pub fn measure(
    options: &MetaOptions,
    words: &[String],
    ranks: &mut Option<&mut Ranks>,
) -> Result<(MetaResult, RunRoot), String> {
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
    let speaks = ranks.as_ref().is_none_or(|ranks| ranks.speaks());
    let live = StepLine::new(options.live, ranks.is_some(), speaks);
    let cold = options.cold;
    let mut runner = StepRunner { session, disks, cold, root: root.path(), live, abandoned: false };
    let mut outcome = rounds(&mut runner, options, ranks);
    runner.live.clear();
    if let Some(ranks) = ranks {
        gather(&rows(options), &mut outcome, ranks, &runner.session);
    }
    let (session, abandoned) = (runner.session, runner.abandoned);
    let MetaOutcome { rounds, stopped, error } = outcome;
    (result.rounds, result.stopped, result.error) = (rounds, stopped, error);
    drop(session);
    if abandoned {
        standard_error::print_line(format_args!(
            "iosonde: the storage does not answer; {} may be left there",
            root.path().display()
        ));
        root.keep();
    } else if options.keep {
        if speaks {
            let path = root.path().display();
            standard_error::print_line(format_args!("iosonde: the tree is in {path}"));
        }
        root.keep();
    } else if ranks.is_some() && result.stopped {
        root.name_leftovers();
    }
    Ok((result, root))
}

/// What came out of a run.
#[derive(Clone, Debug, Default)]
pub struct MetaOutcome {
    /// The rows of each repetition; of the last one those that were measured.
    pub rounds: Vec<Vec<PhaseResult>>,
    /// A signal ended it.
    pub stopped: bool,
    /// The error that ended it.
    pub error: Option<String>,
}

impl MetaOutcome {
    /// Note why it ended early.
    pub fn end(&mut self, end: &RunEnd) {
        match end {
            RunEnd::Stopped { .. } => self.stopped = true,
            RunEnd::Failed(_) => self.error = Some(end.to_string()),
        }
    }
}

/// Put the results of all ranks in the place of this one's, at rank 0.
pub fn gather(rows: &[RowName], outcome: &mut MetaOutcome, ranks: &mut Ranks, session: &Session) {
    let mut own = ranks.result();
    own.note(&outcome.rounds, (outcome.stopped, outcome.error.clone()));
    let (results, missing) = ranks.gather(&own, session);
    if ranks.speaks() {
        outcome.rounds = ranks::merged(rows, &results);
        (outcome.stopped, outcome.error) = ranks::ending(&results);
    }
    if let Err(why) = missing {
        outcome.error.get_or_insert(why);
    }
}

/// All phases as often as is wanted; until a signal, or an error.
fn rounds(
    runner: &mut StepRunner<'_>,
    options: &MetaOptions,
    ranks: &mut Option<&mut Ranks>,
) -> MetaOutcome {
    let mut outcome = MetaOutcome::default();
    let steps = steps(options);
    for round in 1..=options.repeat {
        outcome.rounds.push(Vec::new());
        let mut made = u64::MAX;
        for (number, &step) in (1..).zip(&steps) {
            let title = match step {
                MetaStep::Phase(operation) => operation.word(),
                MetaStep::Mix => "mix",
            };
            let title = format!("{title} ({number}/{}, round {round})", steps.len());
            let ended = match one(runner, options, step, title, made, ranks) {
                Ok(ended) => ended,
                Err(end) => StepEnd { rows: Vec::new(), done: Vec::new(), end: Some(end) },
            };
            if step == MetaStep::Phase(TreeOperation::Create) && options.limit.is_some() {
                made = made_by_each(options, &ended.done);
            }
            outcome.rounds.last_mut().into_iter().for_each(|rows| rows.extend(ended.rows.clone()));
            let Some(end) = ended.end else { continue };
            if let Some(ranks) = ranks {
                ranks.stop_all(&end.to_string());
            }
            outcome.end(&end);
            return outcome;
        }
    }
    outcome
}

fn one(
    runner: &mut StepRunner<'_>,
    options: &MetaOptions,
    step: MetaStep,
    title: String,
    made: u64,
    ranks: &mut Option<&mut Ranks>,
) -> Result<StepEnd, RunEnd> {
    let rows = rows_of(step, options);
    match step {
        MetaStep::Phase(operation) => {
            let step = Step {
                rows,
                changes: changes(operation),
                wears_out: options.limit.is_some() && operation == TreeOperation::Create,
                title,
                operations: operations(options, operation, made),
            };
            let jobs = plan(options, operation, runner.root, made);
            runner.run(&step, jobs, ranks)
        }
        MetaStep::Mix => {
            let step = Step { rows, changes: true, wears_out: false, title, operations: 0 };
            let jobs = plan_mix(options, runner.root, made);
            runner.run(&step, jobs, ranks)
        }
    }
}

/// How many operations all threads of all ranks do; 0 if a limit of time ends them.
fn operations(options: &MetaOptions, operation: TreeOperation, made: u64) -> u64 {
    let trees = if options.shared { 1 } else { options.threads };
    let subject = operation.subject();
    let all = (0..trees).map(|tree| options.shape_of(tree).count(subject)).sum();
    match subject {
        TreeSubject::Files if operation == TreeOperation::Create && options.limit.is_some() => 0,
        TreeSubject::Files => made.saturating_mul(options.threads.into()).min(all),
        TreeSubject::Directories | TreeSubject::Parents => all,
    }
}

/// How many files each thread made at most, where the limit of time ended that: with wear-out all
/// made as many.
fn made_by_each(options: &MetaOptions, done: &[u64]) -> u64 {
    let parts = crate::jobs::parts(options, TreeOperation::Create, u64::MAX);
    let are_whole = parts.iter().zip(done).all(|(part, &done)| done >= part.count);
    if are_whole { u64::MAX } else { done.iter().copied().max().unwrap_or(0).max(1) }
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
    if let Some(limit) = options.limit {
        title +=
            &format!("; created for {} at most", text::short_duration(limit.as_nanos() as u64));
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
