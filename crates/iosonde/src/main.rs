//! iosonde: which personality, then run, then an exit code.

#![forbid(unsafe_code)]

mod answers;
mod commands;
mod debug;
mod exit;
mod explain;
mod first_job;
mod output;
mod personality;
mod session;
mod watch;
mod written;

use personality::Personality;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let called = words.next().map(std::path::PathBuf::from).unwrap_or_default();
    let called = called.file_name().and_then(|name| name.to_str());
    // What is asked for is text: a job file's lines, a report's names.
    let words: Result<Vec<String>, OsString> = words.map(OsString::into_string).collect();
    let arguments = match words {
        Ok(arguments) => arguments,
        Err(word) => {
            output::complain(&format!(
                "iosonde: the argument {word:?} is not UTF-8, as names must be here; make a link \
                 to what it names (ln -s), and name that"
            ));
            return ExitCode::from(exit::REFUSED);
        }
    };
    let rest = arguments.get(1..).unwrap_or_default();
    let code = match (called, arguments.first().map(String::as_str)) {
        (Some("sbk"), _) => iosonde_records::run(&arguments),
        (_, Some("sbk")) => iosonde_records::run(rest),
        (Some("fio"), _) => session::run(Personality::Fio, &arguments),
        (_, Some("fio")) => session::run(Personality::Fio, rest),
        (_, Some("explain")) => explain::run(rest),
        (_, Some("probe")) => commands::probe::run(rest),
        (_, Some("cache")) => commands::cache::run(rest),
        (_, Some("audit")) => commands::audit::run(rest),
        (_, Some("write-cache")) => commands::write_cache::run(rest),
        (_, Some("matrix")) => iosonde_matrix::run(rest),
        (_, None) => first_job::run(),
        _ => session::run(Personality::Native, &arguments),
    };
    ExitCode::from(code)
}
