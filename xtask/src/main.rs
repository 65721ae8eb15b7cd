//! Chores of the project: `cargo run -p xtask -- CHORE`.

#![forbid(unsafe_code)]

mod docs;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- docs [--check] | tidy

docs            write the documents that are made from tables
docs --check    fail if they are not as they would be written
tidy            floors, unsafe, long files, stubs";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["tidy"] => tidy::check(),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
