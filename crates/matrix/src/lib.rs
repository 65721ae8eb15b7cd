//! `iosonde matrix`: which block size and which way of making writes durable
//! cost what, here.
//!
//! A separate personality: `arguments` reads its command line, `slice` makes
//! jobs of the common core out of cells and runs them, `measure` decides how
//! many it takes, and `formats` print the `sheet`.

#![forbid(unsafe_code)]

mod arguments;
mod cell;
mod fastest;
mod formats;
mod meaning;
mod measure;
mod median;
mod phrases;
mod progress;
mod promise;
mod sheet;
mod slice;
mod target;
mod values;
mod witness;

use arguments::{MatrixArguments, MatrixOptions};
use cell::Access;
use clap::Args;
use iosonde_base::{exit, text};
use iosonde_command::definition::CommandEntry;
use iosonde_command::{CommandAnswer, within};
use iosonde_session::RunEnd;
use iosonde_sys::guard::{Guard, MountedWrite};
use iosonde_sys::standard_error;
use iosonde_sys::standard_output::print as say;
use measure::Bounds;
use progress::Progress;
use promise::Promises;
use sheet::{NoFigure, ResultCell, Results};
use slice::{Runner, Slice};
use std::fs::OpenOptions;
use std::path::Path;
use std::time::{Duration, Instant};
use target::Target;
use values::{ResultFile, ResultFormat};
use witness::Flushes;

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "matrix",
    summary: "measure what durability costs, for each block size",
    details: arguments::DETAILS,
    usage: None,
    arguments: MatrixArguments::augment_args,
    takes_jobs: false,
    run,
};

/// Run with the words after `iosonde matrix`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let options = match arguments::parse(&COMMAND, words) {
        Ok(options) => options,
        Err(answer) => return answer.print(),
    };
    match run_with(&options) {
        Ok(code) => code,
        Err(error) => refuse(&error),
    }
}

fn refuse(error: &str) -> u8 {
    CommandAnswer::refused(COMMAND.name, error).print()
}

fn run_with(options: &MatrixOptions) -> Result<u8, String> {
    let mut runner = Runner::new().map_err(|end| end.to_string())?;
    let target = Target::find(options)?;
    for output in &options.outputs {
        can_write(&output.path, &target)?;
    }
    let sheet = match take(options, &target, &mut runner) {
        Ok(sheet) => sheet,
        Err(RunEnd::Stopped { .. }) => {
            standard_error::print_line(format_args!(
                "iosonde: stopped before anything was measured"
            ));
            return Ok(end(exit::SIGNALLED, target, &runner));
        }
        Err(end @ RunEnd::Failed(_)) => {
            return Err(format!("cannot prepare the target: {end}"));
        }
    };
    say(&formats::write(&sheet, options.format));
    let mut code = match () {
        () if sheet.stopped => exit::SIGNALLED,
        () if sheet.has_failed() => exit::FAILED,
        () => exit::OK,
    };
    for ResultFile { path, format } in &options.outputs {
        if let Err(error) = put(path, &sheet, *format) {
            standard_error::print_line(format_args!(
                "iosonde: cannot write {}: {error}",
                path.display()
            ));
            code = code.max(exit::FAILED);
        }
    }
    Ok(end(code, target, &runner))
}

/// Remove created files. After a second signal a job may still run; the
/// process ends under it, as was requested twice.
fn end(code: u8, target: Target, runner: &Runner) -> u8 {
    if !runner.is_abandoned() {
        drop(target);
        return code;
    }
    /// Storage that does not answer may not let a file go either.
    const PATIENCE: Duration = Duration::from_secs(1);
    let path = target.about.path.clone();
    if within(PATIENCE, || drop(target)).is_none() {
        standard_error::print_line(format_args!(
            "iosonde: the storage does not answer; {} may be left there",
            path.display()
        ));
    }
    std::process::exit(code.into())
}

/// Whether a file of results may be written: found out before the run, not
/// after it.
fn can_write(path: &Path, target: &Target) -> Result<(), String> {
    let there = std::fs::metadata(path).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return Err(format!("cannot write to {}: it is not a regular file", path.display()));
    }
    Guard::now(MountedWrite::Refuse)
        .may_put_output(path)
        .map_err(|refusal| format!("cannot {refusal}"))?;
    let same = |path: &Path| path.canonicalize().ok();
    if there.is_some() && same(path) == same(&target.about.path) {
        return Err(format!("cannot write results to {}: it is the target", path.display()));
    }
    // Its contents stay until there are results.
    let tried = OpenOptions::new().append(true).create(true).open(path).and_then(|_| match there {
        Some(_) => Ok(()),
        None => std::fs::remove_file(path),
    });
    tried.map_err(|error| format!("cannot write to {}: {error}", path.display()))
}

fn put(path: &Path, sheet: &Results, format: ResultFormat) -> std::io::Result<()> {
    std::fs::write(path, formats::write(sheet, format))
}

/// The command line, for a shell.
fn command_line() -> String {
    text::shell_command(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
}

/// Prepare the target and measure all cells.
fn take(options: &MatrixOptions, target: &Target, runner: &mut Runner) -> Result<Results, RunEnd> {
    let cells = options.kinds.len() * options.sizes.len();
    let mut progress = Progress::new(options.progress, cells, options.cell_time);
    let busy = witness::busy();
    let began_unix_ms = iosonde_base::time::unix_ms();
    let writes = target.about.temporary || options.kinds.iter().any(|kind| kind.writes());
    if writes {
        let span = text::bytes(target.span);
        progress.doing(&format!("writing {span} to {}", target.about.path.display()));
        let prepared = runner.prepare(target);
        progress.clear();
        prepared?;
    }
    let promises = Promises::of(target, &options.kinds);
    let not = || ResultCell::Not(NoFigure::Stopped);
    let mut sheet = Results {
        about: target.about.clone(),
        sizes: options.sizes.clone(),
        kinds: options.kinds.clone(),
        rows: vec![vec![not(); options.sizes.len()]; options.kinds.len()],
        span: target.span,
        seconds_a_cell: options.cell_time.as_secs_f64(),
        began_unix_ms,
        command: command_line(),
        stopped: false,
        notes: promises.notes.iter().cloned().chain(busy).collect(),
        flushes: Flushes::of(target),
    };
    'sizes: for (column, &size) in options.sizes.iter().enumerate() {
        for (row, &kind) in options.kinds.iter().enumerate() {
            progress.begins(kind, size);
            let begun = Instant::now();
            let (cell, took, stopped) = match promises.why_not(kind, size) {
                Some(words) => (ResultCell::Not(NoFigure::NotHonoured(words)), None, false),
                None => {
                    let (cell, stopped) =
                        one_cell(options, target, runner, (kind, size), &mut sheet.flushes);
                    (cell, Some(begun.elapsed()), stopped)
                }
            };
            progress.ended(kind, size, &cell, took);
            sheet.rows[row][column] = cell;
            if stopped {
                sheet.stopped = true;
                break 'sizes;
            }
        }
    }
    progress.clear();
    Ok(sheet)
}

fn one_cell(
    options: &MatrixOptions,
    target: &Target,
    runner: &mut Runner,
    (kind, size): (Access, u32),
    flushes: &mut Option<Flushes>,
) -> (ResultCell, bool) {
    let bounds = Bounds::of(kind, options.cell_time);
    let room = measure::Room::of(kind, size, target.span);
    measure::measure(kind, &bounds, room, &mut |(first, blocks)| {
        let mut run = || runner.run(&Slice { kind, size, first, blocks }, target);
        match flushes {
            Some(flushes) => flushes.beside(kind, blocks, run),
            None => run(),
        }
    })
}
