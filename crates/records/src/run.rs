//! One call: arguments to jobs, jobs to lines and an exit code.

use crate::bench::{Benchmark, Class, End, Logger, WorkerRole};
use crate::jobs::{PlannedBench, RecordWorker, delay, planned};
use crate::remedies::own_names;
use crate::watch::{RecordsObserver, is_end_of_file};
use crate::words::{OptionValues, UsageError};
use crate::{create, direct, options};
use iosonde_base::exit;
use iosonde_report::formats::{JsonOptions, fio_json};
use iosonde_run::conductor::RunOutcome;
use iosonde_run::job::Plan;
use iosonde_run::worker::JobResult;
use iosonde_session::{RunEnd, RunRules, Session, Work};
use iosonde_sys::standard_error;
use iosonde_sys::standard_output::print as say;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// At most this many ends of files are listed one by one.
const ENDS: usize = 10;

/// Run with these arguments, the program's own name left out.
pub fn run(arguments: &[String]) -> u8 {
    let has = |names: &[&str]| arguments.iter().any(|word| names.contains(&word.as_str()));
    if arguments.is_empty() || has(&["-h", "-help", "--help"]) {
        say(&options::help());
        return exit::OK;
    }
    if has(&["-version", "--version", "-v"]) {
        say(&format!(
            "SBK Version: 10.6 (its commands for files, by iosonde {})\n",
            env!("CARGO_PKG_VERSION")
        ));
        return exit::OK;
    }
    match prepared(arguments) {
        Ok((bench, planned)) => execute(&bench, planned),
        Err(UsageError { code, message }) => {
            standard_error::print_line(format_args!("sbk: {message}"));
            code
        }
    }
}

fn prepared(arguments: &[String]) -> Result<(Benchmark, PlannedBench), UsageError> {
    let bench = Benchmark::of(&OptionValues::read(arguments)?)?;
    let planned = planned(&bench)?;
    Ok((bench, planned))
}

fn execute(bench: &Benchmark, mut planned: PlannedBench) -> u8 {
    for note in bench.notes.iter().chain(&planned.notes) {
        standard_error::print_line(format_args!("sbk: note: {note}"));
    }
    let plan = std::mem::take(&mut planned.plan);
    match execute_plan(bench, &planned, plan) {
        Ok(code) => code,
        Err(end) => {
            end.reasons()
                .iter()
                .map(own_names)
                .for_each(|line| standard_error::print_line(format_args!("sbk: {line}")));
            exit::FAILED
        }
    }
}

/// Run the plan and report on it. The exit code, or why nothing ran.
fn execute_plan(bench: &Benchmark, planned: &PlannedBench, plan: Plan) -> Result<u8, RunEnd> {
    let is_json = bench.output.logger == Logger::Json;
    let rules = RunRules {
        output: bench.output.csv.as_deref(),
        disks: is_json,
        ..RunRules::may_erase(&bench.erase)
    };
    let session = Session::default();
    let ready = session.open(Work::Planned(plan), &rules)?;
    if let Some(limit) = &ready.limit {
        standard_error::print_line(format_args!("sbk: note: {limit}"));
    }
    name_existing(bench.output.csv.iter().map(PathBuf::as_path));
    let mut watch = RecordsObserver::new(bench, planned).map_err(RunEnd::failed)?;
    if bench.action == WorkerRole::Write && bench.class != Class::Null {
        let paths = planned.workers.iter().map(|worker| worker.path.as_path());
        name_existing(paths);
        create::files(bench, &planned.workers).map_err(RunEnd::failed)?;
    }
    if bench.direct {
        let paths = planned.workers.iter().map(|worker| worker.path.as_path());
        direct::notes(bench.action, paths)
            .iter()
            .for_each(|note| standard_error::print_line(format_args!("sbk: note: {note}")));
    }
    let mut measured = ready.run(&mut watch, None)?;
    watch.finish(time_was_up(bench, &planned.workers, &measured.outcome));
    let failed = !watch.errors.is_empty() || watch.lost.is_some();
    if let Some(lost) = watch.lost.take() {
        standard_error::print_line(format_args!("sbk: {lost}"));
    }
    drop(watch);
    tell_ends(bench, &planned.workers, &measured.outcome);
    if is_json {
        forgive_ends(&mut measured.outcome.results);
        say(&fio_json(&measured.report(), &JsonOptions { ours: true }));
    }
    let outcome = &measured.outcome;
    if outcome.abandoned {
        // Workers still run; the process ends under them, as was requested twice.
        std::process::exit(i32::from(exit::SIGNALLED) + outcome.signal.unwrap_or(0));
    }
    Ok(match outcome.signal {
        Some(signal) => u8::try_from(i32::from(exit::SIGNALLED) + signal).unwrap_or(u8::MAX),
        None if failed => exit::FAILED,
        None => exit::OK,
    })
}

/// Name the files that hold data and will be overwritten.
fn name_existing<'p>(paths: impl Iterator<Item = &'p Path>) {
    let holds_data = |path: &&Path| {
        std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0)
    };
    let paths: BTreeSet<&Path> = paths.collect();
    for path in paths.iter().filter(|path| holds_data(path)) {
        let path = path.display();
        standard_error::print_line(format_args!(
            "sbk: note: {path}: this existing file is overwritten"
        ));
    }
}

/// The seconds that were requested, if a worker ran until they were over.
fn time_was_up(bench: &Benchmark, workers: &[RecordWorker], outcome: &RunOutcome) -> Option<u64> {
    let End::Seconds(seconds) = bench.end else { return None };
    let lasted = |(worker, result): (&RecordWorker, &Option<JobResult>)| {
        let late = delay(bench, worker.number);
        let ran = result.as_ref().filter(|result| result.error.is_none());
        ran.is_some_and(|result| result.runtime.secs_f64() + late >= seconds)
    };
    let lasted = outcome.signal.is_none() && workers.iter().zip(&outcome.results).any(lasted);
    lasted.then_some(seconds as u64)
}

/// That a file ended is no error of its job.
fn forgive_ends(results: &mut [Option<JobResult>]) {
    for result in results.iter_mut().flatten() {
        if result.error.as_ref().is_some_and(is_end_of_file) {
            result.error = None;
        }
    }
}

/// Say which workers came to the end of their files before what was requested,
/// and what went unsaid of the others.
fn tell_ends(bench: &Benchmark, workers: &[RecordWorker], outcome: &RunOutcome) {
    if bench.action == WorkerRole::Read && workers.is_empty() {
        remark(
            bench,
            &format!(
                "{}: nothing to read: the end of the file is at its start",
                bench.file.display()
            ),
        );
    }
    let mut ends = Vec::new();
    for (worker, result) in workers.iter().zip(&outcome.results) {
        let Some(result) = result else { continue };
        result
            .notes
            .iter()
            .for_each(|note| standard_error::print_line(format_args!("sbk: note: {note}")));
        ends.extend(end(bench, worker, result).filter(|_| outcome.signal.is_none()));
    }
    ends.iter().take(ENDS).for_each(|end| remark(bench, end));
    if ends.len() > ENDS {
        remark(bench, &format!("and so did {} more", ends.len() - ENDS));
    }
}

/// Print a remark with the lines, or beside a document.
fn remark(bench: &Benchmark, text: &str) {
    match bench.output.logger {
        Logger::Json => standard_error::print_line(format_args!("sbk: {text}")),
        _ => say(&format!("{text}\n")),
    }
}

fn end(bench: &Benchmark, worker: &RecordWorker, result: &JobResult) -> Option<String> {
    let lanes = &result.snapshot.lanes;
    let (records, bytes) =
        lanes.iter().fold((0, 0), |sum, lane| (sum.0 + lane.ios, sum.1 + lane.bytes));
    let shrank = result.error.as_ref().is_some_and(is_end_of_file);
    let used_up =
        result.error.is_none() && worker.part.1 - bytes.min(worker.part.1) < bench.size.min.into();
    if !(shrank || used_up) || worker.records == Some(records) {
        return None;
    }
    let (name, number) = (bench.action.worker(), worker.number);
    let path = worker.path.display();
    let progress = match (worker.records, bench.end) {
        (Some(requested), _) => format!("{records} of {requested} records"),
        (None, End::Seconds(seconds)) => {
            let took = result.runtime.secs_f64();
            format!("{records} records, in {took:.3} of {seconds} seconds")
        }
        (None, _) => format!("{records} records"),
    };
    let counted = worker.part.1 < 1 << 60;
    let why = if shrank && counted { ", which became shorter meanwhile" } else { "" };
    Some(format!("{name} {number} came to the end of {path}{why}, after {progress}"))
}
