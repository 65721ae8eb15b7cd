//! Where a command line of jobs goes: to a run by itself, or to one of several hosts.

use crate::run_jobs::Help;
use crate::{host_run, remote, run_jobs};
use iosonde_session::Personality;

/// Run the jobs of a command line, or print what its flags request; the exit code.
pub fn run(personality: Personality, arguments: &[String], help: Help) -> u8 {
    if let Some(code) = remote::run_as_child(personality, arguments) {
        code
    } else if host_run::is_asked_for(arguments) {
        host_run::run(personality, arguments, help)
    } else {
        run_jobs::run(personality, arguments, help)
    }
}
