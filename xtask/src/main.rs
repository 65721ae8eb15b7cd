//! Tasks of the project: `cargo run -p xtask -- TASK`.

#![forbid(unsafe_code)]

mod circles;
mod counts;
mod docs;
mod json_page;
mod shape;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p xtask -- docs [--check] | test | tidy

docs            write the documents that are made from tables
docs --check    fail if they are not as they would be written
test            run all tests; list skips with their reasons, and count
tidy            check floors, unsafe, long files and functions, type names,
                import circles, skips, stubs";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["test"] => test::run(),
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
