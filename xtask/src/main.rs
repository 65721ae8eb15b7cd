//! Tasks of the project: `cargo run -p xtask -- TASK`.

#![forbid(unsafe_code)]

mod circles;
mod commits;
mod conclusions;
mod counts;
mod dependencies;
mod docs;
mod faults;
mod json_page;
mod json_schema;
mod ledger;
mod links;
mod products;
mod shape;
mod test;
mod tidy;

use std::process::ExitCode;

const USAGE: &str =
    "usage: cargo run -p xtask -- docs [--check] | faults [OPTIONS] | ledger [OPTIONS] |
       conclusions [OPTIONS] | test | tidy

docs            write the documents that are made from tables
docs --check    fail if they are not as they would be written
faults          run random jobs on storage that fails, and compare what iosonde
                reports with what was injected: --seeds N, --seed SEED,
                --first SEED, --minutes M, --program PATH; as root
ledger          try the table of checks of the ledger (crates/truth/table):
                --only TEXT, --list, --program PATH, --without-cost; --liars
                holds it against programs that lie; --keep DIRECTORY keeps what
                was printed and counted, --recorded DIRECTORY judges that again;
                as root
conclusions     try the table of runs whose outcome and limit are set
                (crates/truth/src/conclusions): --only TEXT, --list,
                --program PATH; as root
test            run all tests; list skips with their reasons, and count
tidy            check floors, unsafe, long files and functions, type names,
                import circles, skips, stubs; links of documents; licences,
                versions and sources of dependencies (deny.toml)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        #[cfg(target_os = "linux")]
        ["faults", options @ ..] => faults::run(options),
        ["test"] => test::run(),
        #[cfg(target_os = "linux")]
        ["ledger", options @ ..] => ledger::run(options),
        #[cfg(target_os = "linux")]
        ["lie", words @ ..] => ledger::lie(words),
        ["conclusions", options @ ..] => conclusions::run(options),
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
