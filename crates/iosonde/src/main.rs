//! iosonde: which personality, then run, then an exit code.

#![forbid(unsafe_code)]

mod answers;
mod commands;
mod debug;
mod exit;
mod explain;
mod first_job;
mod output;
mod session;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let called = arguments.first().cloned().unwrap_or_default();
    let called = std::path::Path::new(&called).file_name().and_then(|name| name.to_str());
    let code = match (called, arguments.get(1).map(String::as_str)) {
        (Some("sbk"), _) => iosonde_records::run(&arguments[1..]),
        (_, Some("sbk")) => iosonde_records::run(&arguments[2..]),
        (Some("fio"), _) => session::run(session::Personality::Fio, &arguments[1..]),
        (_, Some("fio")) => session::run(session::Personality::Fio, &arguments[2..]),
        (_, Some("explain")) => explain::run(&arguments[2..]),
        (_, Some("probe")) => commands::probe::run(&arguments[2..]),
        (_, Some("cache")) => commands::cache::run(&arguments[2..]),
        (_, Some("audit")) => commands::audit::run(&arguments[2..]),
        (_, Some("write-cache")) => commands::write_cache::run(&arguments[2..]),
        (_, Some("matrix")) => iosonde_matrix::run(&arguments[2..]),
        (_, None) => first_job::run(),
        _ => session::run(session::Personality::Native, &arguments.split_off(1)),
    };
    ExitCode::from(code)
}
