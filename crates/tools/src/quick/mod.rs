//! `iosonde quick PATH`, or `iosonde PATH`: a short, safe look at a disk;
//! described in docs/tools.md.

mod document;
mod measure;
mod target;
mod text;

use clap::{Args, ValueHint};
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, parse};
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
it, in less than a minute. iosonde PATH is the same.

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
}

/// Run with the words after `quick`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let arguments: QuickArgs = match parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let looked = Session::listening()
        .map_err(|end| end.to_string())
        // Before there is a file, which must go when a signal comes.
        .and_then(|session| {
            let target = QuickTarget::of(&arguments.path, arguments.mib << 20)?;
            measure::all(&target, arguments.seconds, session)
        });
    match looked {
        Ok(measured) => report(&measured, arguments.json),
        Err(why) => {
            print_error(&format!("iosonde: quick: {why}"));
            exit::REFUSED
        }
    }
}

fn report(measured: &QuickLook, as_json: bool) -> u8 {
    print(&if as_json { document::write(measured) } else { text::report(measured) });
    if measured.stopped { exit::SIGNALLED } else { exit::OK }
}

/// Whether a single argument asks for a quick look: a directory, a device, or a
/// file that is no text, and so no job file.
pub fn takes(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|found| {
        let kind = found.file_type();
        kind.is_dir()
            || kind.is_block_device()
            || kind.is_file() && !iosonde_session::job_files::is_text(path)
    })
}
