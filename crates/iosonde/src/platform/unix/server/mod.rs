//! `--server`: a process that listens, and one for each connection.

mod listen;
mod returned_files;
mod serve;
mod session;
mod session_output;

use iosonde_session::Personality;
use iosonde_spec::cli::flags::Flags;

pub use listen::run;

/// What a server starts of itself, if this is such a process: its exit code, or why it failed.
pub fn run_as_child(personality: Personality, arguments: &[String]) -> Option<Result<u8, String>> {
    let (role, rest) = arguments.split_first()?;
    let flags = || -> Flags { iosonde_session::prepare::parse(personality, rest).flags };
    match role.as_str() {
        serve::LISTENER => Some(serve::run(rest)),
        session::CONNECTION => Some(session::run(personality, &flags())),
        _ => None,
    }
}
