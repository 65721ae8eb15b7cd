//! `iosonde quick PATH`, or `iosonde PATH`: a short, safe look at a disk;
//! described in docs/tools.md.

mod document;
mod measure;
mod page;
mod target;
mod text;

use clap::{Args, ValueHint};
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, parse};
use iosonde_command::page_file::PageFile;
use iosonde_session::Session;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use measure::QuickLook;
use std::path::{Path, PathBuf};
use target::QuickTarget;

/// What `--help` says below the summary.
const DETAILS: &str = "\
Measures sequential 1 MiB and random 4 KiB reads and writes at queue depth 1
and 32, and durable 4 KiB writes, with direct I/O where the file system allows
it, in less than a minute. iosonde PATH does the same, with the same
options.

In a directory a temporary file of up to 1 GiB is used and removed, also after
Ctrl-C. Files and devices that exist are only read.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "quick",
    summary: "measure a directory, file or device in under a minute",
    details: DETAILS,
    usage: None,
    arguments: QuickArgs::augment_args,
    takes_jobs: false,
    run,
};

/// The command line of `iosonde quick`.
#[derive(Args, Clone, Debug)]
pub struct QuickArgs {
    /// A directory, a file or a block device
    #[arg(value_name = "PATH|DEVICE", value_hint = ValueHint::AnyPath)]
    path: PathBuf,
    /// Measure each test for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Use a temporary file of at most this many MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(16..=1 << 20))]
    mib: u64,
    /// Print one JSON object; docs/tools.md describes its keys
    #[arg(long)]
    json: bool,
    /// Write the results as an HTML page
    #[arg(long, value_name = "FILE", require_equals = true, value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,
    /// Overwrite FILE if it exists
    #[arg(long)]
    force: bool,
}

/// Run with the words after `quick`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let arguments: QuickArgs = match parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let file = match PageFile::at(arguments.html.as_deref(), arguments.force) {
        Ok(file) => file,
        Err(why) => return refused(&why),
    };
    let looked = Session::listening()
        .map_err(|end| end.to_string())
        // Before there is a file, which must go when a signal comes.
        .and_then(|session| {
            let target = QuickTarget::of(&arguments.path, arguments.mib << 20)?;
            measure::all(&target, arguments.seconds, session)
        });
    match looked {
        Ok(measured) => report(&measured, arguments.json, file.as_ref()),
        Err(why) => refused(&why),
    }
}

fn refused(why: &str) -> u8 {
    print_error(&format!("iosonde: quick: {why}"));
    exit::REFUSED
}

fn report(measured: &QuickLook, as_json: bool, file: Option<&PageFile>) -> u8 {
    print(&if as_json { document::write(measured) } else { text::report(measured) });
    if let Some(Err(why)) = file.map(|file| file.write(&page::page(measured))) {
        return refused(&why);
    }
    if measured.stopped { exit::SIGNALLED } else { exit::OK }
}

/// Whether these words ask for a quick look: a directory, a device or a file that is no job
/// file, and options of it.
pub fn asks(words: &[String]) -> bool {
    const OPTIONS: [&str; 5] = ["--seconds", "--mib", "--json", "--html", "--force"];
    let is_option = |word: &String| {
        let name = word.split('=').next().unwrap_or(word);
        OPTIONS.contains(&name)
    };
    let is_number = |word: &String| word.parse::<u64>().is_ok();
    match words {
        [path, rest @ ..] => {
            rest.iter().all(|word| is_option(word) || is_number(word)) && takes(Path::new(path))
        }
        [] => false,
    }
}

/// Whether a single argument asks for a quick look: a directory, a device, or a
/// file that is no text, and so no job file.
fn takes(path: &Path) -> bool {
    iosonde_sys::files::status(path).is_ok_and(|found| {
        let kind = found.file_type();
        kind.is_dir()
            || kind.is_block_device()
            || kind.is_file() && !iosonde_session::job_files::is_text(path)
    })
}
