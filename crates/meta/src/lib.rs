//! `iosonde meta DIR`: operations on many files and directories, phase by phase.
//!
//! A separate personality, as `matrix` is: `arguments` reads its command line,
//! `jobs` makes jobs of the engine `tree` out of phases, `run` conducts them one
//! after the other, and `formats` print the result.

#![forbid(unsafe_code)]

mod arguments;
mod formats;
mod jobs;
mod phase;
mod result;
mod root;
mod run;
mod watch;

use arguments::MetaArguments;
use clap::Args;
use iosonde_base::exit;
use iosonde_command::CommandAnswer;
use iosonde_command::definition::CommandEntry;
use iosonde_sys::standard_output::print as say;

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "meta",
    summary: "measure operations on many files: create, stat, read, rename, remove",
    details: arguments::DETAILS,
    usage: None,
    arguments: MetaArguments::augment_args,
    takes_jobs: false,
    run,
};

/// Run with the words after `iosonde meta`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let options = match arguments::parse(&COMMAND, words) {
        Ok(options) => options,
        Err(answer) => return answer.print(),
    };
    let result = match run::measure(&options) {
        Ok(result) => result,
        Err(error) => return refuse(&error),
    };
    say(&formats::write(&result, options.format));
    match &result.error {
        _ if result.stopped => exit::SIGNALLED,
        Some(error) => refuse(error),
        None => exit::OK,
    }
}

fn refuse(error: &str) -> u8 {
    CommandAnswer::refused(COMMAND.name, error).print()
}
