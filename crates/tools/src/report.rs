//! `iosonde report RESULT.json...`: stored results, ours and fio's, as a page,
//! text, CSV or Markdown; described in docs/report.md.

use clap::{Args, ValueEnum, ValueHint};
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, parse};
use iosonde_command::{new_file, stored};
use iosonde_html::PageRun;
use iosonde_report::finding::Finding;
use iosonde_report::formats::{self, Style};
use iosonde_result::StoredResult;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use iosonde_sys::terminal;
use std::path::{Path, PathBuf};

/// What `--help` says below the summary.
const DETAILS: &str = "\
Reads results that were written before: iosonde's, and fio's of 2.x and 3.x
(--output-format=json or json+). Without --html, prints them as text.

The page is one file that works offline and without JavaScript.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "report",
    summary: "show stored results as an HTML page, text, csv or markdown",
    details: DETAILS,
    usage: None,
    arguments: ReportArgs::augment_args,
    takes_jobs: false,
    run,
};

/// The command line of `iosonde report`.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// Results; - is standard input
    #[arg(value_name = "RESULT.json", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<String>,
    /// Write a page; without FILE, next to the first result with the ending .html
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath)]
    html: Option<Option<PathBuf>>,
    /// Print the results in this format
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value = "text",
        conflicts_with = "html"
    )]
    format: ReportText,
    /// Report all figures, and findings with what to do
    #[arg(long)]
    verbose: bool,
    /// Overwrite FILE if it exists
    #[arg(long)]
    force: bool,
}

/// A format of `iosonde report` besides the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportText {
    /// As after a run
    Text,
    /// A header and a row for each job and direction
    Csv,
    /// A Markdown table
    Markdown,
}

/// A result that was read, with its text.
struct ReadFile {
    name: String,
    text: String,
    stored: StoredResult,
    /// What `audit` finds in a result that has no ledger: fio's.
    findings: Vec<Finding>,
}

/// Run with the words after `report`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let arguments: ReportArgs = match parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let (mut read, mut code) = (Vec::new(), exit::OK);
    for file in &arguments.files {
        match stored::read_text(file) {
            Ok((text, stored)) => {
                let findings = stored.audited();
                read.push(ReadFile { name: file.clone(), text, stored, findings });
            }
            Err(why) => {
                print_error(&format!("iosonde: report: {file}: {why}"));
                code = exit::REFUSED;
            }
        }
    }
    // A page that lacks a result would pass for all of them.
    if code != exit::OK {
        return code;
    }
    match &arguments.html {
        Some(file) => write_page(&arguments, file.as_deref(), &read),
        None => {
            read.iter().for_each(|one| print(&text(&arguments, one)));
            exit::OK
        }
    }
}

fn text(arguments: &ReportArgs, one: &ReadFile) -> String {
    let report = &one.stored.report;
    let style = Style {
        colour: terminal::shows_colour(),
        unicode: terminal::shows_unicode(),
        columns: terminal::columns(),
        verbose: arguments.verbose,
    };
    match arguments.format {
        ReportText::Text => {
            let notes = one.stored.notes.iter().map(|note| format!("note: {note}\n"));
            let findings = iosonde_command::format::findings(&one.findings);
            let space = if findings.is_empty() { "" } else { "\n" };
            formats::native(report, &style) + space + &findings + &notes.collect::<String>() + "\n"
        }
        ReportText::Csv => formats::csv(report),
        ReportText::Markdown => formats::markdown(report) + "\n",
    }
}

fn write_page(arguments: &ReportArgs, file: Option<&Path>, read: &[ReadFile]) -> u8 {
    let beside = || match read[0].name.as_str() {
        "-" => PathBuf::from("report.html"),
        name => Path::new(name).with_extension("html"),
    };
    let file = file.map_or_else(beside, Path::to_owned);
    let runs: Vec<PageRun> = read
        .iter()
        .map(|one| PageRun {
            name: &one.name,
            report: &one.stored.report,
            json: Some(&one.text),
            notes: &one.stored.notes,
            findings: &one.findings,
        })
        .collect();
    let title = match read {
        [one] => format!("iosonde: {}", one.name),
        many => format!("iosonde: {} results", many.len()),
    };
    match new_file::write(&file, &iosonde_html::page(&title, &runs), arguments.force) {
        Ok(()) => {
            print_error(&format!("iosonde: report: wrote {}", file.display()));
            exit::OK
        }
        Err(why) => {
            print_error(&format!("iosonde: report: {why}"));
            exit::REFUSED
        }
    }
}
