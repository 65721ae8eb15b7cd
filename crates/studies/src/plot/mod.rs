//! `iosonde plot FILE...`: logs and results of anybody as a page of charts, or
//! as CSV; described in docs/plot.md.

mod arguments;
mod csv;
mod inputs;
mod log_charts;
mod logs;
mod options;
mod points;
mod results;

use arguments::PlotArgs;
use clap::Args;
use inputs::{PlotInputs, ReadResult};
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, parse};
use iosonde_command::new_file;
use iosonde_html::{PageRun, PlotPart, plot_page};
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use logs::LogGroup;
use std::path::{Path, PathBuf};

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "plot",
    summary: "draw logs and stored results of fio or iosonde as an HTML page",
    details: arguments::DETAILS,
    usage: None,
    arguments: PlotArgs::augment_args,
    takes_jobs: false,
    run,
};

/// Run with the words after `plot`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let arguments: PlotArgs = match parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match plot(&arguments) {
        Ok(()) => exit::OK,
        Err(reasons) => {
            for why in reasons {
                print_error(&format!("iosonde: plot: {why}"));
            }
            exit::REFUSED
        }
    }
}

/// # Errors
/// Sentences that say why nothing was written.
fn plot(arguments: &PlotArgs) -> Result<(), Vec<String>> {
    let one = |why: String| vec![why];
    let question = arguments.question().map_err(one)?;
    question.iter().try_for_each(options::check).map_err(one)?;
    let page = arguments.page();
    let target = arguments.csv.as_deref().unwrap_or(&page);
    if target != Path::new("-") {
        new_file::check(target, arguments.force).map_err(one)?;
    }
    let inputs = inputs::sort(arguments)?;
    if question.is_some() && inputs.results.is_empty() {
        return Err(one("--x is of results: none of the files is one".to_owned()));
    }
    let groups = logs::read(arguments, &inputs.logs)?;
    let answer = match &question {
        Some(question) => Some(results::answer(question, &inputs.results).map_err(one)?),
        None => None,
    };
    let text = match &arguments.csv {
        Some(_) => csv::text(arguments, &groups, answer.as_ref(), &inputs.results).map_err(one)?,
        None => html(&inputs, &groups, answer.as_ref()),
    };
    if target == Path::new("-") {
        print(&text)
    } else {
        new_file::write(target, &text, arguments.force).map_err(one)?;
        print_error(&format!("iosonde: plot: wrote {}", target.display()));
    }
    Ok(())
}

fn run_of(one: &ReadResult) -> PageRun<'_> {
    PageRun {
        name: &one.name,
        report: &one.stored.report,
        json: Some(&one.text),
        notes: &one.stored.notes,
        findings: &one.findings,
    }
}

fn html(
    inputs: &PlotInputs,
    groups: &[LogGroup],
    answer: Option<&results::ResultColumns>,
) -> String {
    let series: Vec<_> = groups.iter().map(LogGroup::series).collect();
    let mut parts: Vec<PlotPart> = Vec::new();
    if let Some(answer) = answer {
        parts.push(PlotPart::Answer(answer.answer()));
        parts.extend(answer.parts());
    }
    let runs =
        iosonde_html::with_short_names(&inputs.results.iter().map(run_of).collect::<Vec<_>>());
    if answer.is_none() && runs.len() > 1 {
        parts.push(PlotPart::Overview(runs.clone()));
    }
    for (number, (group, series)) in groups.iter().zip(&series).enumerate() {
        parts.extend(log_charts::parts(number, group, series));
    }
    let tested = inputs.results.iter().find_map(|one| one.stored.report.ours.ledger.as_deref());
    match answer {
        None => parts.extend(runs.into_iter().map(PlotPart::Run)),
        Some(_) => {
            parts.push(PlotPart::Findings(runs));
            parts.extend(tested.map(|ledger| PlotPart::Tested(iosonde_html::tested_rows(ledger))));
        }
    }
    let names: Vec<&str> = inputs.names().collect();
    let title = match names[..] {
        [one] => format!("iosonde plot: {one}"),
        _ => format!("iosonde plot: {} files", names.len()),
    };
    plot_page(&title, &parts)
}

impl PlotArgs {
    /// Where the page is written.
    fn page(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from("plot.html"))
    }
}
