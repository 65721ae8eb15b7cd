//! `iosonde like NAME [TARGET]`: workloads that are known by name; described in
//! docs/like.md.

mod findings;
mod io500;
mod job_text;
mod page;
mod preset;
mod presets;
mod pts;
mod readings;
mod steps;
mod target;

use crate::trials::promise::Promise;
use clap::{Args, ValueHint};
use iosonde_base::exit;
use iosonde_base::text::{time, wrap};
use iosonde_command::definition::{CommandEntry, parse};
use iosonde_command::page_file::PageFile;
use iosonde_options::nearest;
use iosonde_report::finding::FindingCounts;
use iosonde_session::give_up;
use iosonde_session::{RunEnd, Session};
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use preset::{LikeGoal, LikeReading, Preset};
use presets::PRESETS;
use std::path::PathBuf;
use std::time::Duration;
use target::LikeTarget;

/// What `--help` says below the summary.
const DETAILS: &str = "\
Runs a workload that is known by name, and explains its figures in a sentence.
Without NAME, lists the workloads. A goal is only given where there is a public
one, or by --goal; PASS needs it to be met and figures that are not misleading.

In a directory (the default: this one) files of its own are made and removed.
A file is only read. A device is written to with --erase=WORD only.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "like",
    summary: "run a known workload: a database's log, a desktop benchmark ...",
    details: DETAILS,
    usage: None,
    arguments: LikeArgs::augment_args,
    takes_jobs: false,
    run,
};

/// Exit code of a goal that is not met, or that misleading figures cannot meet.
const FAILED_GOAL: u8 = 6;

/// The names of the workloads.
pub fn names() -> impl Iterator<Item = &'static str> {
    presets::PRESETS.iter().map(|preset| preset.name).chain(io500::list().map(|(name, _)| name))
}

/// The command line of `iosonde like`.
#[derive(Args, Clone, Debug)]
pub struct LikeArgs {
    /// The workload; without it, all are listed
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// A directory, a file to read or a device
    #[arg(value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath)]
    target: PathBuf,
    /// Set an option of the jobs, as runtime=10; repeatable
    #[arg(long, value_name = "OPTION=VALUE")]
    with: Vec<String>,
    /// A goal of your own, in place of the workload's: FIGURE < TIME, as
    /// 'read.p99 < 5ms', or 'errors = 0'; repeatable
    #[arg(long, value_name = "GOAL", value_parser = Promise::parse)]
    goal: Vec<Promise>,
    /// List the workloads
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// Print the job file with its sources, and run nothing
    #[arg(long)]
    print: bool,
    /// Run each test of desktop this often
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    loops: u32,
    /// Wait this long between the tests of desktop
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = pause)]
    pause: Duration,
    /// Run each cell of a test of SNIA's this long
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    cell: Duration,
    /// End a test of SNIA's after this many rounds
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u32).range(5..=1000))]
    rounds: u32,
    /// Of io500: threads, of each rank with --mpi [default: one for each processor, or one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: Option<u32>,
    /// Of io500: how long each phase that writes goes on, until slower threads catch up [default: 300s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    limit: Option<Duration>,
    /// Of io500: empty the machine's caches before each phase (needs root)
    #[arg(long)]
    cold: bool,
    /// Of io500: run on all ranks that mpirun or srun has started
    #[arg(long)]
    mpi: bool,
    /// Allow the data on a device to be lost: its serial number, model or size
    #[arg(long, value_name = "WORD", require_equals = true)]
    erase: Option<String>,
    /// Write the result and the runs as an HTML page
    #[arg(long, value_name = "FILE", require_equals = true, value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,
    /// Overwrite FILE if it exists
    #[arg(long)]
    force: bool,
}

/// A time; 0 is none.
fn pause(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(Duration::ZERO) } else { time(text) }
}

/// Run with the words after `like`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let arguments: LikeArgs = match parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let Some(name) = &arguments.name else {
        print(&list());
        return exit::OK;
    };
    let refused = |why: &str| {
        print_error(&format!("iosonde: like: {why}"));
        exit::REFUSED
    };
    if let Some(kind) = pts::Kind::of(name) {
        return if arguments.goal.is_empty() {
            run_pts(kind, &arguments)
        } else {
            refused("--goal: SNIA's tests have their own, the steady state")
        };
    }
    if let Some(kind) = io500::kind_of(name) {
        return match io500::check(&arguments) {
            Ok(()) if arguments.print => {
                print(&io500::phases(kind));
                exit::OK
            }
            Ok(()) => ended(io500::run(kind, &arguments, words)),
            Err(why) => refused(&why),
        };
    }
    if io500::is_asked_for(&arguments) {
        return refused("--mpi, --threads, --limit and --cold are of io500 and io500-easy");
    }
    let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
        return refused(&unknown(name));
    };
    let text = match job_text::job_text(preset, &arguments.with) {
        Ok(text) => text,
        Err(why) => return refused(&why),
    };
    if arguments.print {
        print(&text);
        return exit::OK;
    }
    ended(measure(preset, &text, &arguments))
}

/// Run a test of SNIA's; the exit code.
fn run_pts(kind: pts::Kind, arguments: &LikeArgs) -> u8 {
    let with = arguments.with.iter();
    if let Some(why) = with.filter_map(|word| job_text::option_of(word).err()).next() {
        return ended(Err(RunEnd::failed(why)));
    }
    if arguments.print {
        print(&pts::job_text(kind, arguments));
        return exit::OK;
    }
    ended(pts::run(kind, arguments))
}

/// The exit code of runs; why there is no result is printed.
fn ended(result: Result<u8, RunEnd>) -> u8 {
    match result {
        Ok(code) => code,
        // Another rank says why.
        Err(RunEnd::Failed(reasons)) if reasons.is_empty() => exit::REFUSED,
        Err(end @ RunEnd::Failed(_)) => {
            print_error(&format!("iosonde: like: {end}"));
            exit::REFUSED
        }
        Err(RunEnd::Stopped { twice: true }) => give_up(),
        Err(RunEnd::Stopped { twice: false }) => {
            print_error(&format!("iosonde: like: {STOPPED}"));
            exit::SIGNALLED
        }
    }
}

/// What is said of a workload that a signal ended.
const STOPPED: &str = "stopped: nothing is concluded from a part";

fn unknown(name: &str) -> String {
    let names = PRESETS.iter().map(|preset| preset.name);
    let names = names.chain(pts::list().chain(io500::list()).map(|(name, _)| name));
    match nearest(name, names) {
        Some(near) => format!("unknown workload {name:?}: did you mean {near}?"),
        None => format!("unknown workload {name:?}: iosonde like lists them"),
    }
}

/// A line each.
fn list() -> String {
    let presets = PRESETS.iter().map(|preset| (preset.name, preset.summary));
    presets
        .chain(pts::list())
        .chain(io500::list())
        .map(|(name, summary)| format!("  {name:<14} {summary}\n"))
        .collect()
}

/// Run the steps and print what they come to; the exit code.
fn measure(preset: &Preset, text: &str, arguments: &LikeArgs) -> Result<u8, RunEnd> {
    let failed = RunEnd::failed;
    let file = PageFile::at(arguments.html.as_deref(), arguments.force).map_err(failed)?;
    let session = Session::listening()?;
    let target =
        LikeTarget::of(&arguments.target, preset, arguments.erase.as_deref()).map_err(failed)?;
    let results = match steps::run(preset, text, &target, arguments, &session) {
        Ok(results) => results,
        Err(end) => return Err(page_of_end(file.as_ref(), preset.name, end)),
    };
    drop(target);
    let mut reading = (preset.read)(&results);
    if !arguments.goal.is_empty() {
        reading.goal = Some(LikeGoal::of(&arguments.goal, &results));
    }
    let mut findings = FindingCounts::default();
    results.iter().for_each(|step| findings.add(findings::of(&step.report)));
    print(&words(preset, &reading, &findings));
    if let Some(file) = file {
        file.write(&page::page(preset, &reading, &findings, &results)).map_err(failed)?;
    }
    Ok(match &reading.goal {
        Some(goal) if !goal.is_met || findings.is_wrong() => FAILED_GOAL,
        _ => exit::OK,
    })
}

/// A page that says why there are no figures; the end of the runs, as it was.
fn page_of_end(file: Option<&PageFile>, name: &str, end: RunEnd) -> RunEnd {
    let why = match &end {
        RunEnd::Failed(_) => format!("FAILED: {}", end.to_string().replace("FAILED: ", "")),
        RunEnd::Stopped { .. } => STOPPED.to_owned(),
    };
    let written = file.map_or(Ok(()), |file| file.write(&page::without_figures(name, &why)));
    match written {
        Ok(()) => end,
        Err(why) => end.about(&format!("{why}; ")),
    }
}

/// The sentence first, then figures, then what limits them.
fn words(preset: &Preset, reading: &LikeReading, findings: &FindingCounts) -> String {
    let outcome = match &reading.goal {
        None => String::new(),
        Some(goal) => format!(", goal {}   {}", goal.words, goal.outcome(findings.is_wrong())),
    };
    let lead = format!("{:<12} ", preset.name);
    let mut text = format!("{lead}{}{outcome}\n", wrap(&reading.sentence, lead.len(), 100));
    for line in &reading.lines {
        text.push_str(&format!("  {line}\n"));
    }
    text + &findings::text(findings)
}
