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
use iosonde_command::CommandAnswer;
use iosonde_command::definition::{CommandEntry, arguments};
use survey::PathSurvey;

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "probe",
    summary: "inspect a path or device before testing",
    details: arguments::DETAILS,
    usage: None,
    arguments: ProbeArgs::augment_args,
    takes_jobs: false,
    run: |words| answer(words).print(),
};

/// What the words after `probe` ask for.
pub fn answer(words: &[String]) -> CommandAnswer {
    let arguments: ProbeArgs = match arguments(&COMMAND, words) {
        Ok(arguments) => arguments,
        Err(answer) => return answer,
    };
    match PathSurvey::take(&arguments) {
        Ok(survey) if arguments.json => CommandAnswer::of(document::write(&survey)),
        Ok(survey) => CommandAnswer::of(text::report(&survey)),
        Err(why) => CommandAnswer::refused(COMMAND.name, &why),
    }
}
