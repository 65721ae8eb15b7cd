//! `iosonde merge RESULT.json...`: results of several hosts as one; described in
//! docs/hosts.md.

use clap::{Args, ValueEnum, ValueHint};
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, parse};
use iosonde_command::{new_file, stored};
use iosonde_hosts::merge::HostsMerge;
use iosonde_html::PageRun;
use iosonde_report::Report;
use iosonde_report::formats::{self, JsonOptions, Style};
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use iosonde_sys::terminal;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// What `--help` says below the summary.
const DETAILS: &str = "\
Adds up results of jobs that ran on several hosts at a time: those that ranks
write (--mpi, --start-at), and any others of iosonde, or of fio with json+.

Percentiles are those of the sum of all histograms. The total rate is of the
time in which all hosts ran; there is none if that is less than half of the
longest run, and the exit code is then 3.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "merge",
    summary: "merge the results of several hosts that ran at the same time",
    details: DETAILS,
    usage: None,
    arguments: MergeArgs::augment_args,
    takes_jobs: false,
    run,
};

/// The command line of `iosonde merge`.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// The results, one for each host
    #[arg(value_name = "RESULT.json", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<String>,
    /// Print the result in this format
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    format: MergeFormat,
    /// Also write a page to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,
    /// Write the result to FILE instead of standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// A row for each host, however many there are
    #[arg(long)]
    verbose: bool,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
}

/// A format of `iosonde merge`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MergeFormat {
    /// As after a run
    Text,
    /// fio's document, with the hosts under the key iosonde
    Json,
    /// A header and a row for each job and direction
    Csv,
    /// The document of fio's client: each job with its host under client_stats
    FioClient,
}

/// Run with the words after `merge`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let arguments: MergeArgs = match parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match merge(&arguments) {
        Ok(code) => code,
        Err(why) => {
            print_error(&format!("iosonde: merge: {why}"));
            exit::REFUSED
        }
    }
}

fn merge(arguments: &MergeArgs) -> Result<u8, String> {
    for file in arguments.html.iter().chain(&arguments.output) {
        new_file::check(file, arguments.force)?;
    }
    each_once(&arguments.files)?;
    let sums = match arguments.format {
        MergeFormat::FioClient => HostsMerge::with_jobs(),
        _ => HostsMerge::default(),
    };
    let report = read_all(&arguments.files, sums)?.finish()?;
    let text = match arguments.format {
        MergeFormat::Text => formats::native(&report, &style(arguments)),
        MergeFormat::Json => formats::fio_json(&report, &JsonOptions { ours: true }),
        MergeFormat::Csv => formats::csv(&report),
        MergeFormat::FioClient => formats::fio_json_plus(&report, &JsonOptions { ours: false }),
    };
    match &arguments.output {
        Some(file) => new_file::write(file, &text, arguments.force)?,
        None => print(&text),
    }
    if let Some(file) = &arguments.html {
        write_page(file, &report, arguments.force)?;
    }
    Ok(exit_code(&report))
}

/// Refuse a file that is named twice, also by another path: its host would count twice.
fn each_once(files: &[String]) -> Result<(), String> {
    let mut known = BTreeSet::new();
    let place = |file: &String| std::fs::canonicalize(file).unwrap_or_else(|_| file.into());
    match files.iter().find(|file| !known.insert(place(file))) {
        Some(file) => Err(format!("{file} is named twice: each result counts once")),
        None => Ok(()),
    }
}

/// Failed hosts, or that there is no total.
pub fn exit_code(report: &Report) -> u8 {
    let Some(hosts) = &report.ours.hosts else { return exit::OK };
    match hosts.hosts.iter().filter(|host| host.failure.is_some()).count() {
        0 if hosts.is_refused() => exit::MISLEADING,
        failed => exit::failed(failed),
    }
}

/// The page of a merged result.
///
/// # Errors
/// It cannot be written.
pub fn write_page(file: &Path, report: &Report, force: bool) -> Result<(), String> {
    let json = formats::fio_json(report, &JsonOptions { ours: true });
    let run =
        PageRun { name: "several hosts", report, json: Some(&json), notes: &[], findings: &[] };
    let hosts = report.ours.hosts.as_ref().map_or(0, |hosts| hosts.hosts.len());
    let title = format!("iosonde: {hosts} hosts");
    new_file::write(file, &iosonde_html::page(&title, &[run]), force)
}

fn style(arguments: &MergeArgs) -> Style {
    let to_file = arguments.output.is_some();
    Style {
        colour: !to_file && terminal::shows_colour(),
        unicode: terminal::shows_unicode(),
        columns: if to_file { terminal::COLUMNS_DEFAULT } else { terminal::columns() },
        verbose: arguments.verbose,
    }
}

/// Whose turn it is to add a result.
struct MergeTurn {
    due: usize,
    sums: HostsMerge,
    /// Why no more are added.
    refused: Option<String>,
}

/// Read the files on all processors and add them in their order, so that the same files give
/// the same result; one for each processor is in memory at a time.
///
/// # Errors
/// A file is no result, or cannot be added: a sentence with its name.
pub fn read_all(files: &[String], sums: HostsMerge) -> Result<HostsMerge, String> {
    let readers = thread::available_parallelism().map_or(1, usize::from).min(files.len()).max(1);
    let next = AtomicUsize::new(0);
    let (turn, passed) = (Mutex::new(MergeTurn { due: 0, sums, refused: None }), Condvar::new());
    let read_some = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else { return };
            // The others wait for this one: a fault of ours may not keep them for ever.
            let result = std::panic::catch_unwind(|| stored::read(file))
                .unwrap_or_else(|_| Err("reading it failed by a fault of this program".to_owned()));
            let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            let others = |turn: &mut MergeTurn| turn.due != at && turn.refused.is_none();
            let mut turn = passed.wait_while(turn, others).unwrap_or_else(PoisonError::into_inner);
            if turn.refused.is_some() {
                return;
            }
            turn.due += 1;
            let added = result.and_then(|result| turn.sums.add(file, result));
            turn.refused = added.err().map(|why| format!("{file}: {why}"));
            passed.notify_all();
        }
    };
    thread::scope(|scope| (0..readers).for_each(|_| drop(scope.spawn(read_some))));
    let MergeTurn { sums, refused, .. } = turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    refused.map_or(Ok(sums), Err)
}
