//! A workload like IO500's: its phases, in its order, and their geometric means. It is not the
//! benchmark, whose results are those of its own program only; docs/like.md.

mod phases;
mod report;

pub use report::{Io500Report, Io500Row};

use crate::arguments::MetaOptions;
use crate::live::{LiveMode, StepLine};
use crate::ranks::Ranks;
use crate::result::PhaseResult;
use crate::root::RunRoot;
use crate::run::{MetaOutcome, gather};
use crate::runner::{StepEnd, StepRunner};
use crate::watch::{Disks, drop_caches};
use iosonde_engine::tree::TreeFileSizes;
use iosonde_session::{RunEnd, Session};
use iosonde_sys::stack::Stack;
use phases::{Amounts, Io500Phase, Io500Stage};
use std::path::PathBuf;
use std::time::Duration;

/// Which phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io500Kind {
    /// All twelve.
    All,
    /// Those of the half that is kind to storage.
    Easy,
}

impl Io500Kind {
    /// Both.
    pub const ALL: [Io500Kind; 2] = [Io500Kind::All, Io500Kind::Easy];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Io500Kind::All => "io500",
            Io500Kind::Easy => "io500-easy",
        }
    }

    /// For the list.
    pub fn summary(self) -> &'static str {
        match self {
            Io500Kind::All => "the phases of IO500, and a score like its; not a submission",
            Io500Kind::Easy => "the easy half of io500: a file and a directory for each thread",
        }
    }

    /// Its phases, in their order.
    fn phases(self) -> impl Iterator<Item = Io500Phase> + Clone {
        let has = move |phase: &Io500Phase| self == Io500Kind::All || !phase.is_hard();
        Io500Phase::ALL.into_iter().filter(has)
    }
}

/// How long IO500 wants each phase that writes to go on.
pub const LIMIT: Duration = Duration::from_secs(300);

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Io500Options {
    /// Which phases.
    pub kind: Io500Kind,
    /// The directory to work in.
    pub dir: PathBuf,
    /// Threads, of each rank.
    pub threads: u32,
    /// How long phases write, before slower threads catch up.
    pub limit: Duration,
    /// Caches of the machine are emptied before each phase.
    pub cold: bool,
    /// On all ranks of a launcher of MPI.
    pub is_among_ranks: bool,
    /// The command line, which all ranks have.
    pub words: Vec<String>,
}

/// Measure; `show` is called with the report, of several ranks on the first, and gives the exit code.
///
/// # Errors
/// Why there is no result; on ranks that do not print it without reasons.
pub fn run(
    options: &Io500Options,
    show: impl FnOnce(&Io500Report) -> Result<u8, RunEnd>,
) -> Result<u8, RunEnd> {
    if !options.is_among_ranks {
        return measured(options, None, show);
    }
    let mut ranks = Ranks::begin(false).map_err(RunEnd::failed)?;
    let code = measured(options, Some(&mut ranks), show);
    ranks.end(*code.as_ref().unwrap_or(&iosonde_base::exit::REFUSED));
    code
}

/// What the phases do, a line each.
pub fn description(kind: Io500Kind) -> String {
    let lines = kind.phases().filter(|phase| !phase.name().is_empty());
    lines.map(|phase| format!("{:<20}{}\n", phase.name(), phase.what())).collect()
}

fn measured(
    options: &Io500Options,
    mut ranks: Option<&mut Ranks>,
    show: impl FnOnce(&Io500Report) -> Result<u8, RunEnd>,
) -> Result<u8, RunEnd> {
    let speaks = ranks.as_ref().is_none_or(|ranks| ranks.speaks());
    let silent = |end: RunEnd| match end {
        RunEnd::Failed(_) if !speaks => RunEnd::Failed(Vec::new()),
        end => end,
    };
    // Removed once the report is out, which may take longer than a launcher leaves after Ctrl-C.
    let (report, root) = measure(options, &mut ranks).map_err(|why| silent(RunEnd::failed(why)))?;
    if ranks.is_some() && report.stopped {
        root.name_leftovers();
    }
    if speaks {
        show(&report)
    } else if report.stopped {
        Ok(iosonde_base::exit::SIGNALLED)
    } else {
        report.error.map_or(Ok(iosonde_base::exit::OK), |_| Err(RunEnd::Failed(Vec::new())))
    }
}

fn measure(
    options: &Io500Options,
    ranks: &mut Option<&mut Ranks>,
) -> Result<(Io500Report, RunRoot), String> {
    let session = Session::listening().map_err(|end| end.to_string())?;
    if options.cold {
        drop_caches()?;
    }
    let place = ranks.as_ref().map_or((0, 1), |ranks| ranks.place());
    let easy = tree(options, place, false);
    let root = match ranks {
        None => RunRoot::make(&easy)?,
        // One file and one directory are of all ranks.
        Some(ranks) => RunRoot::among(&tree(options, place, true), &options.words, ranks)?,
    };
    let speaks = ranks.as_ref().is_none_or(|ranks| ranks.speaks());
    let mut runner = StepRunner {
        session,
        disks: Disks::under(&options.dir),
        cold: options.cold,
        root: root.path(),
        live: StepLine::new(LiveMode::Auto, ranks.is_some(), speaks),
        abandoned: false,
    };
    let stage = Io500Stage::new(options, root.path(), easy, tree(options, place, true))?;
    let mut outcome = MetaOutcome::default();
    run_all(&mut runner, options, &stage, &mut outcome, ranks);
    runner.live.clear();
    if let Some(ranks) = ranks {
        gather(&phases::rows(options.kind), &mut outcome, ranks, &runner.session);
    }
    let file_system = Stack::under(&options.dir).ok().and_then(|stack| stack.mount);
    let below = file_system.map(|mount| mount.filesystem).into_iter().chain(runner.disks.names);
    let below = below.collect::<Vec<String>>().join(", ");
    Ok((report::report(options, place.1, &outcome, &below), root))
}

/// One of the two trees.
fn tree(options: &Io500Options, (rank, ranks): (u32, u32), is_hard: bool) -> MetaOptions {
    let own = options.threads;
    let threads = own.saturating_mul(ranks);
    MetaOptions {
        dir: options.dir.clone(),
        files: phases::FILES_OF_A_THREAD * u64::from(threads),
        dirs: if is_hard { 1 } else { threads.into() },
        sizes: TreeFileSizes::weighted([(if is_hard { phases::HARD_FILE_BYTES } else { 0 }, 1)]),
        threads,
        own: rank * own..(rank + 1) * own,
        shared: is_hard,
        order: crate::values::VisitOrder::Sequential,
        limit: Some(options.limit),
        // Nothing is renamed before it is removed.
        phases: Vec::new(),
        matched: phases::wanted(options.kind),
        ..MetaOptions::default()
    }
}

/// All phases, until a signal or an error.
fn run_all(
    runner: &mut StepRunner<'_>,
    options: &Io500Options,
    stage: &Io500Stage,
    outcome: &mut MetaOutcome,
    ranks: &mut Option<&mut Ranks>,
) {
    let mut amounts = Amounts::default();
    outcome.rounds.push(Vec::new());
    for phase in options.kind.phases() {
        let (step, jobs) = stage.step(phase, &amounts);
        let ended = runner.run(&step, jobs, ranks).unwrap_or_else(|end| StepEnd {
            rows: Vec::new(),
            done: Vec::new(),
            end: Some(end),
        });
        stage.note(phase, &ended.done, &mut amounts);
        let rows = ended.rows.into_iter().map(|row| PhaseResult { synced: None, ..row });
        outcome.rounds[0].extend(rows);
        let Some(end) = ended.end else { continue };
        if let Some(ranks) = ranks {
            ranks.stop_all(&end.to_string());
        }
        outcome.end(&end);
        return;
    }
}
