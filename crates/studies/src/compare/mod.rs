//! `iosonde compare`: run A and B in pairs, or read their results, and report
//! whether they differ; described in docs/compare.md.

mod arguments;
mod comparison;
mod document;
mod fingerprints;
mod gate;
mod jobs;
mod likeness;
mod page;
mod pairs;
mod side;
mod sides;
mod stored;
mod text;

use crate::trials::words::{MixedWords, parse, refuse};
use arguments::{CompareArgs, CompareFormat, UndecidedGate};
use clap::Args;
use comparison::{JudgeRequest, SideComparison};
use gate::GateResult;
use iosonde_base::exit;
use iosonde_command::definition::CommandEntry;
use iosonde_command::page_file::PageFile;
use iosonde_judge::Margin;
use iosonde_session::give_up;
use iosonde_session::{RunEnd, Session};
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use pairs::{PairedRuns, PairsEnd, RunSide};
use sides::CompareInput;
use std::path::PathBuf;

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "compare",
    summary: "report whether B differs from A: runs in random pairs, or results",
    details: arguments::DETAILS,
    usage: Some(arguments::USAGE),
    arguments: CompareArgs::augment_args,
    takes_jobs: true,
    run,
};

/// Exit codes of a comparison, beside those of a run.
mod code {
    /// A and B are not the same thing.
    pub const UNLIKE: u8 = 2;
    /// The gate is broken.
    pub const BROKEN: u8 = 4;
    /// The gate cannot tell.
    pub const UNDECIDED: u8 = 5;
}

/// Run with the words after `compare`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let MixedWords { own: arguments, rest } = match parse::<CompareArgs>(&COMMAND, words) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let input = match sides::input(&rest, &arguments) {
        Ok(input) => input,
        Err(reasons) => {
            reasons.iter().for_each(|line| print_error(line));
            return exit::REFUSED;
        }
    };
    let request = JudgeRequest { named: arguments.metric.clone(), margin: arguments.margin() };
    // Known before anything runs.
    let is_here = !matches!(input, CompareInput::Jobs(_));
    let beside = if is_here { PathBuf::new() } else { arguments.out.clone() };
    let may_replace = arguments.force || arguments.resume;
    let file = arguments.html.clone();
    let file = file.map(|file| file.unwrap_or_else(|| beside.join("compare.html")));
    let is_inside = file.as_ref().is_some_and(|file| file.starts_with(&arguments.out));
    let page = if is_inside {
        PageFile::in_new_folder(file.as_deref(), may_replace)
    } else {
        PageFile::at(file.as_deref(), may_replace)
    };
    let printed = match page {
        Ok(page) => Printed { arguments: &arguments, page },
        Err(why) => return refuse("compare", &why),
    };
    let judged = match input {
        CompareInput::Jobs(sides) => return run_pairs(&printed, *sides, &request),
        CompareInput::Folder(folder) => stored::folder(&folder, &arguments, &request),
        CompareInput::Results(sides) => stored::results(sides, &arguments, &request),
        CompareInput::Session(side) => stored::session(side, &arguments, &request),
    };
    match judged {
        Ok((comparison, seed)) => report(&printed, &comparison, seed, exit::OK),
        Err(why) => refuse("compare", &why),
    }
}

/// How a comparison is printed.
struct Printed<'a> {
    arguments: &'a CompareArgs,
    page: Option<PageFile>,
}

/// Run A and B, and judge them.
fn run_pairs(printed: &Printed<'_>, sides: [RunSide; 2], request: &JudgeRequest) -> u8 {
    let arguments = printed.arguments;
    let session = match Session::listening() {
        Ok(session) => session,
        Err(end) => return refuse("compare", &end.to_string()),
    };
    let mut runs = match PairedRuns::new(arguments, sides, &session) {
        Ok(runs) => runs,
        Err(why) => return refuse("compare", &why),
    };
    let seed = Some(runs.seed);
    let (code, twice) = match runs.run(request) {
        Ok(PairsEnd::JudgedRuns(comparison)) => {
            let code = report(printed, &comparison, seed, exit::OK);
            let kept = arguments.out.display();
            print_error(&format!("iosonde: compare: wrote the results of the runs to {kept}"));
            return code;
        }
        Ok(PairsEnd::Unlike(reasons)) => return unlike(&reasons),
        Err(end @ RunEnd::Failed(_)) => {
            print_error(&format!("iosonde: compare: {end}"));
            (exit::REFUSED, false)
        }
        Err(RunEnd::Stopped { twice }) => (exit::SIGNALLED, twice),
    };
    // What was measured until then is judged.
    let code = match runs.judge(request) {
        Ok(comparison) => report(printed, &comparison, seed, code),
        Err(why) => {
            print_error(&format!("iosonde: compare: stopped: {why}"));
            code
        }
    };
    let kept = arguments.out.display();
    print_error(&format!("iosonde: compare: the runs are kept in {kept}; --resume goes on"));
    if twice { give_up() } else { code }
}

fn unlike(reasons: &[String]) -> u8 {
    for reason in reasons {
        print_error(&format!("iosonde: compare: A and B are not the same thing: {reason}"));
    }
    code::UNLIKE
}

/// Print a comparison; the exit code. `ended` is that of the runs.
fn report(printed: &Printed<'_>, comparison: &SideComparison, seed: Option<u64>, ended: u8) -> u8 {
    let arguments = printed.arguments;
    if !comparison.likeness.stops.is_empty() {
        return unlike(&comparison.likeness.stops);
    }
    let gate = arguments.gate.map(|gate| {
        let margin = gate.0.map_or(comparison.margin, Margin::of_ratio);
        gate::judge(comparison, margin, arguments.accept_drift)
    });
    let word = gate.map(GateResult::word);
    print(&match arguments.format {
        CompareFormat::Text => text::text(comparison, seed),
        CompareFormat::Md => text::markdown(comparison, seed),
        CompareFormat::Json => {
            iosonde_command::document::text(&document::document(comparison, seed, word))
        }
        CompareFormat::Csv => document::csv(comparison),
    });
    if let (Some(word), CompareFormat::Text | CompareFormat::Md) = (word, arguments.format) {
        print(&format!("\n gate: {word}\n"));
    }
    if let Some(file) = &printed.page
        && let Err(why) = file.write(&page::page(comparison, seed, word))
    {
        return refuse("compare", &why);
    }
    if ended != exit::OK {
        return ended;
    }
    let misleads = comparison.sides.iter().flat_map(|side| &side.runs).any(|run| run.misleads());
    match (gate, arguments.gate_undecided) {
        (Some(GateResult::Broken), _) => code::BROKEN,
        (Some(GateResult::Undecided), UndecidedGate::Fail) => code::UNDECIDED,
        _ if arguments.strict && misleads => exit::MISLEADING,
        _ => exit::OK,
    }
}
