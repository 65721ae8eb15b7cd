//! `--server`: not here. A server starts a process for each connection that inherits it, and tells its client's user
//! from others, which is written for Unix systems.

use iosonde_session::Personality;
use iosonde_spec::cli::flags::Flags;

/// Refuse.
///
/// # Errors
/// Always: a sentence.
pub fn run(_: Personality, _: &str, _: &Flags, _: &[String]) -> Result<u8, String> {
    Err("--server runs on Linux, macOS and FreeBSD only: start servers there, and --client here"
        .to_owned())
}

/// No server starts anything here.
pub fn run_as_child(_: Personality, _: &[String]) -> Option<Result<u8, String>> {
    None
}
