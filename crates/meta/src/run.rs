//! Running the phases, one after the other.

use crate::arguments::MetaOptions;
use crate::jobs::plan;
use crate::phase::changes;
use crate::result::{MetaResult, PhaseResult};
use crate::root;
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
use rustix::fs::{Mode, OFlags};
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

/// Measure, in a new directory that is gone afterwards.
///
/// # Errors
/// Why nothing could be measured.
pub fn measure(options: &MetaOptions) -> Result<MetaResult, String> {
    let session = Session::listening().map_err(|end| end.to_string())?;
    if options.cold {
        drop_caches()?;
    }
    let mut root = root::make(options)?;
    let disks = Disks::under(&options.dir);
    let mut result = described(options, &disks);
    let mut runner = PhaseRunner { options, disks, session, abandoned: false };
    'rounds: for round in 0..options.repeat {
        result.rounds.push(Vec::new());
        for (number, &operation) in (1..).zip(&options.phases) {
            let phases = options.phases.len();
            status_line::draw(&format!(
                "{} ({number}/{phases}, round {})",
                operation.word(),
                round + 1
            ));
            match runner.phase(operation, root.path()) {
                Ok(phase) => result.rounds[round as usize].push(phase),
                Err(RunEnd::Stopped { .. }) => {
                    result.stopped = true;
                    break 'rounds;
                }
                Err(end @ RunEnd::Failed(_)) => {
                    result.error = Some(end.to_string());
                    break 'rounds;
                }
            }
        }
    }
    status_line::clear();
    if runner.abandoned {
        standard_error::print_line(format_args!(
            "iosonde: the storage does not answer; {} may be left there",
            root.path().display()
        ));
        root.keep();
    } else if options.keep {
        standard_error::print_line(format_args!(
            "iosonde: the tree is in {}",
            root.path().display()
        ));
        root.keep();
    }
    Ok(result)
}

impl PhaseRunner<'_> {
    fn phase(&mut self, operation: TreeOperation, root: &Path) -> Result<PhaseResult, RunEnd> {
        let plan = plan(self.options, operation, root).map_err(RunEnd::failed)?;
        let ready = self.session.open(Work::Planned(plan), &RunRules::held())?;
        if self.options.cold {
            drop_caches().map_err(RunEnd::failed)?;
        }
        let (dentries_before, before) = (dentries(), self.disks.read());
        let io_before = TaskIo::of_process().ok();
        let measured = ready.run(&mut Unseen, None)?;
        let during = self.disks.since(before);
        let io = io_before.zip(TaskIo::of_process().ok());
        let fetched = io.map(|(before, after)| after.since(&before).storage_read_bytes);
        self.abandoned |= measured.outcome.abandoned;
        if let Some(end) = measured.stopped() {
            return Err(end);
        }
        let dentries = dentries_before.zip(dentries());
        let before = self.disks.read();
        let synced =
            if changes(operation) { Some(sync(root).map_err(RunEnd::failed)?) } else { None };
        let after = synced.and_then(|_| self.disks.since(before));
        if let Some((_, why)) = measured.failed_job() {
            return Err(RunEnd::failed(format!("FAILED: {}: {why}", operation.word())));
        }
        let results: Vec<JobResult> = measured.outcome.results.into_iter().flatten().collect();
        Ok(PhaseResult { synced, fetched, during, after, dentries, ..added(operation, &results) })
    }
}

/// The results of a phase's threads, added up.
fn added(operation: TreeOperation, results: &[JobResult]) -> PhaseResult {
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
        first_done: times().min().unwrap_or_default(),
        last_done: times().max().unwrap_or_default(),
        latency,
        longest: Nanos(longest),
        synced: None,
        fetched: None,
        during: None,
        after: None,
        dentries: None,
    }
}

/// syncfs(2) of the file system of `root`, and how long it took.
fn sync(root: &Path) -> Result<Nanos, String> {
    let begun = Instant::now();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(root, flags, Mode::empty())
        .and_then(rustix::fs::syncfs)
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
    let mut title = format!(
        "{} of {} in all, in {} director{}, {trees}: {}",
        text::counted(options.files, "file"),
        text::bytes(options.bytes()),
        options.dirs,
        if options.dirs == 1 { "y" } else { "ies" },
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
