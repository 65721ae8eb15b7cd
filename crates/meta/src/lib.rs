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

pub use arguments::COMMAND;
use iosonde_base::exit;
use iosonde_command::CommandAnswer;
use iosonde_sys::standard_output::print as say;

/// Run with the words after `iosonde meta`; the exit code.
pub fn run(words: &[String]) -> u8 {
    let options = match arguments::parse(words) {
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
