//! `iosonde selftest [DIR]`: what this build, kernel and file system honour;
//! described in docs/tools.md.

mod data;
mod program;
mod storage;
mod text;

use clap::{Args, ValueHint};
use iosonde_base::exit;
use iosonde_base::text::bytes;
use iosonde_command::definition::{CommandEntry, parse};
use iosonde_direct::{Facts, Tristate};
use iosonde_run::conductor::signals;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use iosonde_sys::temporary::OwnDirectory;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What `--help` says below the summary.
const DETAILS: &str = "\
Checks in a few seconds whether direct I/O, syncs and the page cache do what
they promise in DIR, and whether iosonde there finds data that was changed,
reports errors and ends as it should.

It works in a directory of its own in DIR, which is removed, also after Ctrl-C.
The exit code is 0 if everything holds, 1 if iosonde itself fails a check or
cannot run, and 3 if only the storage does not honour something.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "selftest",
    summary: "check what this build, kernel and file system honour",
    details: DETAILS,
    usage: None,
    arguments: SelftestArgs::augment_args,
    takes_jobs: false,
    run,
};

/// The command line of `iosonde selftest`.
#[derive(Args, Clone, Debug)]
pub struct SelftestArgs {
    /// A directory on the storage to check
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    directory: PathBuf,
    /// Print one JSON object; docs/tools.md describes its keys
    #[arg(long)]
    json: bool,
}

/// Whose promise a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CheckOf {
    /// The kernel, the file system and the devices below it.
    Storage,
    /// iosonde itself.
    Program,
}

/// One check and its result.
#[derive(Clone, Debug)]
struct Check {
    of: CheckOf,
    /// Its key in documents.
    id: &'static str,
    /// Its name in text.
    name: &'static str,
    /// Whether it holds.
    verdict: Tristate,
    /// What was seen, or why it is unknown.
    detail: String,
}

/// Everything that was checked.
struct Selftest {
    directory: PathBuf,
    facts: Facts,
    checks: Vec<Check>,
    stopped: bool,
}

/// The file that most jobs work on.
const DATA: &str = "data";

/// What the checks write at a time, with something to spare.
const ROOM: u64 = 8 << 20;

/// Whether so much can be written: a full disk, a quota or a limit of file sizes would
/// look like faults of iosonde.
fn has_room(own: &Path) -> std::io::Result<()> {
    let path = own.join("room");
    let mut file = File::create(&path)?;
    let part = vec![1; 1 << 20];
    let written = (0..ROOM >> 20).try_for_each(|_| file.write_all(&part));
    let synced = written.and_then(|()| file.sync_all());
    std::fs::remove_file(&path).and(synced)
}

impl Selftest {
    fn run(directory: &Path) -> Result<Selftest, String> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", directory.display());
        let found = std::fs::metadata(directory).map_err(|error| named(&error))?;
        if !found.is_dir() {
            return Err(named(&"not a directory: name one on the storage to check"));
        }
        let facts = Facts::of(directory).map_err(|error| named(&error))?;
        let stop: Arc<AtomicBool> = signals::stop_flag().map_err(|error| error.to_string())?;
        let own =
            OwnDirectory::make(directory, "iosonde-selftest").map_err(|error| named(&error))?;
        has_room(own.path())
            .map_err(|error| named(&format!("{} cannot be written there: {error}", bytes(ROOM))))?;
        let mut checks = Vec::new();
        let stopped = || stop.load(Ordering::Relaxed);
        for group in [storage::CHECKS, data::CHECKS, program::CHECKS] {
            let loses =
                |check: &Check| check.id == storage::PLAIN_DATA && check.verdict != Tristate::Yes;
            if checks.iter().any(loses) {
                // Whose fault a wrong block is could not be told.
                checks.push(program::untried());
                break;
            }
            for check in group {
                if stopped() {
                    break;
                }
                checks.extend(check(own.path(), &facts));
            }
        }
        Ok(Selftest { directory: directory.to_owned(), facts, checks, stopped: stopped() })
    }

    fn failed(&self, of: CheckOf) -> bool {
        self.checks.iter().any(|check| check.of == of && check.verdict == Tristate::No)
    }

    fn code(&self) -> u8 {
        match () {
            () if self.stopped => exit::SIGNALLED,
            () if self.failed(CheckOf::Program) => exit::REFUSED,
            () if self.failed(CheckOf::Storage) => exit::MISLEADING,
            () => exit::OK,
        }
    }

    fn document(&self) -> Value {
        let word = |verdict| match verdict {
            Tristate::Yes => "yes",
            Tristate::No => "no",
            Tristate::Unknown => "unknown",
        };
        let of = |of| match of {
            CheckOf::Storage => "storage",
            CheckOf::Program => "iosonde",
        };
        let checks = self.checks.iter().map(|check| {
            json!({
                "id": check.id,
                "of": of(check.of),
                "name": check.name,
                "holds": word(check.verdict),
                "detail": check.detail,
            })
        });
        json!({
            "schema": 1,
            "path": self.directory.display().to_string(),
            "checks": checks.collect::<Vec<_>>(),
        })
    }
}

/// Run with the words after `selftest`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let arguments: SelftestArgs = match parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match Selftest::run(&arguments.directory) {
        Ok(selftest) => {
            print(&if arguments.json {
                format!("{:#}\n", selftest.document())
            } else {
                text::page(&selftest)
            });
            selftest.code()
        }
        Err(why) => {
            print_error(&format!("iosonde: selftest: {why}"));
            exit::REFUSED
        }
    }
}
