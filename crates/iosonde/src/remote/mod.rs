//! Jobs on other machines without a launcher: `--server` runs what clients send, `--client` sends
//! it and prints what comes back; described in docs/hosts.md.

mod client;
mod client_hosts;
mod connect;
pub mod order;
mod printed;
mod received_files;

use crate::platform::server;
use iosonde_base::exit;
use iosonde_hosts::group::Limits;
use iosonde_hosts::wire::Secret;
use iosonde_session::Personality;
use iosonde_spec::cli::flags::HostFlags;
use iosonde_spec::cli::{Parsed, flags::Flags};
use iosonde_sys::standard_error::print_error;
use std::path::Path;
use std::time::Duration;

/// How often the ends of a connection hear of each other.
const BEAT_EVERY: Duration = Duration::from_millis(500);

/// Be a server, or a client; the exit code.
pub fn run(personality: Personality, arguments: &[String], parsed: &Parsed) -> u8 {
    let flags = &parsed.flags;
    let ran = refuse_mixture(&flags.hosts).and_then(|()| match &flags.hosts.server {
        Some(address) => server::run(personality, address, flags, arguments),
        None => client::run(personality, arguments, parsed),
    });
    ran.unwrap_or_else(|why| refuse(personality, &why))
}

/// What a server starts of itself, if this is such a process: its exit code.
pub fn run_as_child(personality: Personality, arguments: &[String]) -> Option<u8> {
    let ran = server::run_as_child(personality, arguments)?;
    Some(ran.unwrap_or_else(|why| refuse(personality, &why)))
}

fn refuse(personality: Personality, why: &str) -> u8 {
    print_error(&format!("{}: {why}", personality.program()));
    exit::REFUSED
}

/// Flags that are of one way to run on several hosts.
fn refuse_mixture(hosts: &HostFlags) -> Result<(), String> {
    if hosts.server.is_some() && !hosts.clients.is_empty() {
        return Err("--server and --client are two programs: start each by itself".to_owned());
    }
    let launched = hosts.mpi || hosts.rank.is_some() || hosts.ranks.is_some();
    if launched || hosts.start_at.is_some() {
        return Err("--mpi, --rank, --ranks and --start-at are for hosts that a launcher starts: leave them out with \
             --server and --client"
            .to_owned());
    }
    if hosts.split.is_some() || hosts.reorder || hosts.shift.is_some() || hosts.table.is_some() {
        return Err(
            "--split, --reorder, --shift and --hosts-table are for --mpi and --rank: name files by {rank} or {host}"
                .to_owned(),
        );
    }
    Ok(())
}

/// The secret that the flags or IOSONDE_SECRET_FILE name, if one does.
pub fn secret(flags: &Flags) -> Result<Option<Secret>, String> {
    let named = flags.hosts.secret_file.clone();
    let named = named.or_else(|| std::env::var("IOSONDE_SECRET_FILE").ok());
    let path = named.filter(|path| !path.is_empty());
    path.map(|path| Secret::read(Path::new(&path))).transpose()
}

/// Limits of time between a server and its client.
pub fn limits(flags: &Flags) -> Limits {
    let mut limits = Limits { beat_every: BEAT_EVERY, ..Limits::default() };
    if let Some(ms) = flags.hosts.silence_ms {
        limits.silence = Duration::from_millis(ms);
        limits.beat_every = limits.beat_every.min(limits.silence / 4);
    }
    limits
}

/// What both ends must be of.
pub fn build() -> String {
    format!("iosonde {}", env!("CARGO_PKG_VERSION"))
}
