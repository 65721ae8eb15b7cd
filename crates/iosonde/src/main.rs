//! iosonde: find the command, run it, end with its exit code.

#![forbid(unsafe_code)]

mod clock_test;
mod commands;
mod debug;
mod explain;
mod first_job;
mod host_run;
mod html_page;
mod info_flags;
mod job_run;
mod live;
mod metrics;
mod output;
mod platform;
mod profiles;
mod progress;
mod remote;
mod report_formats;
mod rules;
mod run_jobs;
mod run_outputs;
mod speed;
mod start;

use commands::table;
use iosonde_base::exit;
use iosonde_command::outputs;
use iosonde_session::Personality;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::{process, standard_output};
use iosonde_tools::quick;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    iosonde_sys::memory::leave_zeroed_memory_untouched();
    iosonde_run::conductor::signals::let_large_writes_fail();
    ExitCode::from(process::with_stack(program))
}

/// The program; its exit code.
fn program() -> u8 {
    let mut words = std::env::args_os();
    let program = words.next().map(PathBuf::from).unwrap_or_default();
    let arguments: Result<Vec<String>, OsString> = words.map(OsString::into_string).collect();
    let code = match arguments {
        Ok(arguments) => run(&program, &arguments),
        Err(word) => refuse_bytes(&word),
    };
    let code = outputs::finish(code);
    match standard_output::lost() {
        None => code,
        Some(why) => {
            print_error(&format!("iosonde: cannot write to standard output: {why}"));
            code.max(exit::REFUSED)
        }
    }
}

/// Run as the program that this one is called as.
fn run(program: &Path, arguments: &[String]) -> u8 {
    let name = program.file_name().and_then(|name| name.to_str());
    if let Some(run) = name.and_then(table::called_as) {
        return run(arguments);
    }
    match arguments {
        [] => first_job::run(table::overview),
        [word, rest @ ..] => match table::find(word) {
            Some(command) => (command.run)(rest),
            None if quick::asks(arguments) => quick::run(arguments),
            None if is_mistyped_command(word) => table::refuse_unknown(word),
            None if !Path::new(word).exists() && table::instead_of(word).is_some() => {
                table::refuse_unknown(word)
            }
            None => start::run(Personality::Native, arguments, table::overview),
        },
    }
}

/// Whether a word is neither an option nor a file, but almost a command.
fn is_mistyped_command(word: &str) -> bool {
    !word.starts_with('-') && !Path::new(word).exists() && table::nearest_name(word).is_some()
}

/// Names in job files and reports are text, so arguments must be.
fn refuse_bytes(word: &OsString) -> u8 {
    print_error(&format!(
        "iosonde: the argument {word:?} is not UTF-8; make a symbolic link to the file (ln -s) \
         and name that"
    ));
    exit::REFUSED
}
