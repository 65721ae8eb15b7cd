//! The phases of IO500, which `iosonde-meta` runs: arguments in, text and page out.

use super::LikeArgs;
use iosonde_base::exit;
use iosonde_command::page_file::PageFile;
use iosonde_html::{PlotCell, PlotPart, PlotTable, StudyAnswer, plot_page};
use iosonde_meta::io500::{self, Io500Kind, Io500Options, Io500Report};
use iosonde_session::RunEnd;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;

/// The names and summaries, for the list.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    Io500Kind::ALL.into_iter().map(|kind| (kind.name(), kind.summary()))
}

/// The one of this name.
pub fn kind_of(name: &str) -> Option<Io500Kind> {
    Io500Kind::ALL.into_iter().find(|kind| kind.name() == name)
}

/// Whether an argument is there that only has a meaning here.
pub fn is_asked_for(arguments: &LikeArgs) -> bool {
    arguments.mpi || arguments.cold || arguments.threads.is_some() || arguments.limit.is_some()
}

/// Whether the arguments have a meaning here.
///
/// # Errors
/// One has none: which, and what to do.
pub fn check(arguments: &LikeArgs) -> Result<(), String> {
    if !arguments.with.is_empty() || !arguments.goal.is_empty() || arguments.erase.is_some() {
        return Err("--with, --goal, --erase: io500 has its own jobs, in a directory; use --threads and --limit"
            .to_owned());
    }
    Ok(())
}

/// What the phases do, for `--print`.
pub fn phases(kind: Io500Kind) -> String {
    io500::description(kind)
}

/// Run it; the exit code.
///
/// # Errors
/// Why there is no result.
pub fn run(kind: Io500Kind, arguments: &LikeArgs, words: &[String]) -> Result<u8, RunEnd> {
    let file = PageFile::at(arguments.html.as_deref(), arguments.force).map_err(RunEnd::failed)?;
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let options = Io500Options {
        kind,
        dir: arguments.target.clone(),
        threads: arguments.threads.unwrap_or(if arguments.mpi { 1 } else { processors }),
        limit: arguments.limit.unwrap_or(io500::LIMIT),
        cold: arguments.cold,
        is_among_ranks: arguments.mpi,
        words: words.to_vec(),
    };
    io500::run(&options, |report| {
        print(&report.text());
        if let Some(file) = &file {
            file.write(&page(kind, report)).map_err(RunEnd::failed)?;
        }
        Ok(match &report.error {
            _ if report.stopped => exit::SIGNALLED,
            Some(why) => {
                print_error(&format!("iosonde: like: {why}"));
                exit::REFUSED
            }
            None => exit::OK,
        })
    })
}

fn page(kind: Io500Kind, report: &Io500Report) -> String {
    let sentence = match (&report.error, report.means.last()) {
        (Some(why), _) => format!("FAILED: {}", why.replace("FAILED: ", "")),
        (None, Some((_, score))) => format!("{}: score {score}", kind.name()),
        (None, None) => format!("{}: stopped by a signal", kind.name()),
    };
    let means = report.means.iter().map(|(name, words)| format!("{name}: {words}"));
    let lines = [report.title.clone()].into_iter().chain(means).chain(report.remarks.clone());
    let answer = StudyAnswer {
        sentence,
        is_bad: report.error.is_some() || report.stopped,
        lines: lines.collect(),
        ..StudyAnswer::default()
    };
    let rows = report
        .rows
        .iter()
        .map(|row| [&row.name, &row.work, &row.time, &row.rate].map(PlotCell::plain).into());
    let heads = ["phase", "work", "time", "rate"].map(str::to_owned).into();
    let parts =
        [PlotPart::Answer(answer), PlotPart::Table(PlotTable { heads, rows: rows.collect() })];
    plot_page(&format!("iosonde like {}", kind.name()), &parts)
}
