//! `iosonde sweep`: run jobs over a grid of options, or search the highest rate
//! that keeps a promise; described in docs/sweep.md.

mod arguments;
mod condition;
mod document;
mod find;
mod grid;
mod page;
mod precondition;
mod refine;
mod results;
mod runs;
mod search;
mod text;

use crate::trials::words::{MixedWords, parse, refuse};
use arguments::{SweepArgs, SweepFormat};
use clap::Args;
use grid::GridPoint;
use iosonde_base::exit;
use iosonde_base::text::{counted, rough_time};
use iosonde_command::definition::CommandEntry;
use iosonde_command::page_file::PageFile;
use iosonde_judge::round_order;
use iosonde_run::job::Plan;
use iosonde_session::give_up;
use iosonde_session::jobs::checked;
use iosonde_session::prepare::prepare_parsed;
use iosonde_session::{Personality, RunEnd, Session};
use iosonde_spec::cli::Parsed;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use results::SweepResults;
use results::load_axis;
use runs::{PlannedPoints, SweepPoint, SweepRuns, planned_points};
use search::SearchResult;
use std::fmt::Write;

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "sweep",
    summary: "run jobs over a grid of options; find the knee or a highest rate",
    details: arguments::DETAILS,
    usage: Some(arguments::USAGE),
    arguments: SweepArgs::augment_args,
    takes_jobs: true,
    run,
};

/// Run with the words after `sweep`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let MixedWords { own: arguments, rest } = match parse::<SweepArgs>(&COMMAND, words) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    match start(&arguments, &rest) {
        Ok(code) => code,
        Err(reasons) => {
            reasons.iter().for_each(|line| print_error(line));
            exit::REFUSED
        }
    }
}

/// Check everything, then run; errors are reasons of a line each.
fn start(arguments: &SweepArgs, words: &[String]) -> Result<u8, Vec<String>> {
    let own = |why: &str| vec![format!("iosonde: sweep: {why}")];
    match (arguments.over.is_empty(), arguments.slo.is_empty()) {
        (true, true) => {
            return Err(own(
                "nothing to sweep: give --over OPTION=VALUES, or --slo 'FIGURE < VALUE' --find rate_iops",
            ));
        }
        (false, false) => {
            return Err(own("--over and --slo are two kinds of sweep: give one of them"));
        }
        _ => {}
    }
    let base = checked(words)?;
    let is_search = arguments.over.is_empty();
    if is_search {
        check_search(&base).map_err(|why| own(&why))?;
    }
    let planned = if is_search {
        PlannedPoints { points: Vec::new(), left_out: Vec::new() }
    } else {
        planned_points(&base, arguments)?
    };
    let points = &planned.points;
    if arguments.refine.is_some()
        && points.first().and_then(|point| load_axis(&point.grid)).is_none()
    {
        return Err(own("--refine needs --over with one axis of iodepth or numjobs"));
    }
    page_file(arguments).map_err(|why| own(&why))?;
    let plans = plans(&base, points).map_err(|why| own(&why))?;
    arguments.precondition.check(&plans, &base.flags.jobs.erase).map_err(|why| own(&why))?;
    if arguments.dry_run {
        print(&dry_run(arguments, points, &plans));
        return Ok(exit::OK);
    }
    let session = Session::listening().map_err(|end| own(&end.to_string()))?;
    let mut runs = SweepRuns::new(arguments, base, planned, &session).map_err(|why| own(&why))?;
    Ok(if is_search { run_search(arguments, &mut runs) } else { run_grid(arguments, &mut runs) })
}

/// The page that `--html` asks for; a sweep that goes on replaces its own.
fn page_file(arguments: &SweepArgs) -> Result<Option<PageFile>, String> {
    let (file, may_replace) = (arguments.html.as_deref(), arguments.force || arguments.resume);
    if file.is_some_and(|file| file.starts_with(&arguments.out)) {
        return PageFile::in_new_folder(file, may_replace);
    }
    PageFile::at(file, may_replace)
}

/// A search paces jobs that run for a time.
fn check_search(base: &Parsed) -> Result<(), String> {
    for job in &base.jobs {
        if !*job.spec.time.time_based.get() || job.spec.time.runtime.get().secs_f64() <= 0.0 {
            return Err(format!(
                "--slo: job {}: set time_based and runtime: a run is as long as its percentiles need",
                job.name
            ));
        }
    }
    Ok(())
}

/// The jobs of all points with known values, as they will run.
fn plans(base: &Parsed, points: &[SweepPoint]) -> Result<Vec<Plan>, String> {
    let known: Vec<&Parsed> = if points.is_empty() {
        vec![base]
    } else {
        points.iter().filter_map(|point| point.parsed.as_ref()).collect()
    };
    let plan = |parsed: &&Parsed| {
        let prepared = prepare_parsed(Personality::Native, (*parsed).clone());
        prepared.map(|prepared| prepared.plan).map_err(|refused| RunEnd::from(refused).to_string())
    };
    known.iter().map(plan).collect()
}

/// Run the grid; the exit code.
fn run_grid(arguments: &SweepArgs, runs: &mut SweepRuns<'_>) -> u8 {
    let ended = runs.run();
    let results = SweepResults::of(&runs.points, runs.seed);
    let document = iosonde_command::document::text(&document::document(&results, runs.seed));
    let csv = document::csv(&results);
    let text = text::text(&results, runs.seed, runs.progress());
    let page = page::page(&results, runs, ended.as_ref().err());
    let has_results = runs.progress().0 > 0 || !runs.failures().is_empty();
    finish(arguments, runs, ended, PrintedSweep { has_results, text, document, csv, page })
}

/// Search the highest rate; the exit code.
fn run_search(arguments: &SweepArgs, runs: &mut SweepRuns<'_>) -> u8 {
    let mut found = SearchResult::default();
    let ended = search::search(runs, arguments, &mut found);
    let document = document::search_document(&found, runs.seed);
    // For the settings and the system: a probe that cannot be read is only not shown.
    let result = found.probes.first().and_then(|probe| runs.stored(&probe.file).ok());
    let report = result.as_ref().map(|result| &result.report);
    let printed = PrintedSweep {
        has_results: !found.probes.is_empty(),
        text: text::search_text(&found),
        document: iosonde_command::document::text(&document),
        csv: document::search_csv(&found),
        page: page::page_of_search(&found, runs.seed, report, ended.as_ref().err()),
    };
    finish(arguments, runs, ended, printed)
}

/// The results in all forms.
struct PrintedSweep {
    /// There are some. Without them only the page that was asked for says why.
    has_results: bool,
    text: String,
    document: String,
    csv: String,
    page: String,
}

/// Keep and print the results that there are; the exit code.
fn finish(
    arguments: &SweepArgs,
    runs: &SweepRuns<'_>,
    ended: Result<(), RunEnd>,
    printed: PrintedSweep,
) -> u8 {
    let mut code = exit::OK;
    let PrintedSweep { has_results, text, document, csv, page } = printed;
    let written =
        page_file(arguments).and_then(|file| file.map_or(Ok(()), |file| file.write(&page)));
    if let Err(why) = written {
        code = refuse("sweep", &why);
    }
    if has_results {
        let files = [("sweep.json", &document), ("sweep.csv", &csv), ("sweep.html", &page)];
        for (name, contents) in files {
            if let Err(why) = runs.folder.write(name, contents) {
                code = refuse("sweep", &why);
            }
        }
        print(match arguments.format {
            SweepFormat::Text => &text,
            SweepFormat::Json => &document,
            SweepFormat::Csv => &csv,
        });
        let folder = arguments.out.display();
        print_error(&format!(
            "iosonde: sweep: wrote {folder}/sweep.html, sweep.json, sweep.csv and the results of the runs"
        ));
    }
    let kept = format!(
        "iosonde: sweep: what has ended is kept in {}; --resume goes on",
        arguments.out.display()
    );
    match ended {
        Ok(()) if runs.is_whole() => code,
        Ok(()) if !runs.is_cut() => {
            let count = counted(runs.failures().len() as u64, "point");
            print_error(&format!("iosonde: sweep: {count} failed\n{kept}"));
            exit::REFUSED
        }
        Ok(()) => {
            print_error(&format!("iosonde: sweep: the budget is through\n{kept}"));
            code
        }
        Err(end @ RunEnd::Failed(_)) => {
            print_error(&format!("iosonde: sweep: {end}\n{kept}"));
            exit::REFUSED
        }
        Err(RunEnd::Stopped { twice }) => {
            print_error(&kept);
            if twice { give_up() } else { exit::SIGNALLED }
        }
    }
}

/// What would run.
fn dry_run(arguments: &SweepArgs, points: &[SweepPoint], plans: &[Plan]) -> String {
    let seed = arguments.seed.unwrap_or(0);
    let mut out = String::new();
    let seconds: Option<Vec<f64>> = plans.iter().map(seconds_of).collect();
    let rounds = f64::from(arguments.rounds);
    if points.is_empty() {
        let _ = writeln!(out, "a search of at most about 25 runs");
    } else {
        let _ = writeln!(
            out,
            "{}, {}",
            counted(points.len() as u64, "point"),
            counted(u64::from(arguments.rounds), "round")
        );
    }
    if let Some(seconds) = &seconds {
        let all: f64 = if points.is_empty() {
            seconds.iter().sum::<f64>() * 25.0
        } else {
            seconds.iter().sum::<f64>() * rounds
        };
        let _ = writeln!(out, "about {}, preparations not counted", rough_time(all));
    } else {
        let _ = writeln!(out, "it takes as long as the sizes of the jobs take");
    }
    let words = match arguments.seed {
        Some(_) => "the first round, in this order:",
        None => "the points (their order depends on the seed):",
    };
    let order = match arguments.seed {
        Some(_) => round_order(seed, 0, points.len()),
        None => (0..points.len()).collect(),
    };
    if !points.is_empty() {
        let _ = writeln!(out, "{words}");
    }
    for at in order {
        let grid: &GridPoint = &points[at].grid;
        let _ = writeln!(out, "  {}", iosonde_command::format::printable(grid.text()));
    }
    out
}

/// How long a run of a plan takes, if its jobs run for a time.
fn seconds_of(plan: &Plan) -> Option<f64> {
    let times = plan.jobs.iter().map(|job| {
        let runtime = job.time.runtime.filter(|_| job.source.time_based)?;
        Some(runtime.secs_f64() + job.time.ramp.secs_f64())
    });
    times.collect::<Option<Vec<f64>>>()?.into_iter().max_by(f64::total_cmp)
}
