//! `iosonde probe PATH|DEVICE`: all that affects a test there, before any
//! test; described in docs/tools.md.

mod arguments;
mod document;
pub mod hazards;
mod io_uring;
pub mod survey;
mod text;
pub mod trials;

pub use arguments::ProbeArgs;
use clap::Args;
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, parse};
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use survey::PathSurvey;

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "probe",
    summary: "inspect a path or device before testing",
    details: arguments::DETAILS,
    usage: None,
    arguments: ProbeArgs::augment_args,
    takes_jobs: false,
    run,
};

/// Run with the words after `probe`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let arguments: ProbeArgs = match parse(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    match PathSurvey::take(&arguments) {
        Ok(survey) => {
            let json = arguments.json;
            print(&if json { document::write(&survey) } else { text::report(&survey) });
            exit::OK
        }
        Err(why) => refuse(&why),
    }
}

fn refuse(why: &str) -> u8 {
    print_error(&format!("iosonde: probe: {why}"));
    exit::REFUSED
}
