//! What a client asks of a server, and what it gets back.

use crate::host_run::job_text::JobText;
use iosonde_session::Personality;
use serde::{Deserialize, Serialize};

/// Jobs for one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Called as fio.
    pub as_fio: bool,
    /// The jobs.
    pub text: JobText,
    /// A job file of the server.
    pub remote_config: Option<String>,
    /// The server as the client names it.
    pub name: String,
    /// Its place among the servers.
    pub rank: u32,
    /// How many there are.
    pub ranks: u32,
    /// Nothing but documents is printed: no lines around a report.
    pub documents_only: bool,
    /// The result has fio's text in it.
    pub normal: bool,
    /// The result has the terse form of this version in it.
    pub terse: Option<u8>,
}

impl Order {
    #[allow(dead_code)] // Of servers, which are on Unix systems.
    pub fn personality(&self) -> Personality {
        if self.as_fio { Personality::Fio } else { Personality::Native }
    }
}

/// What a server measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServerOutcome {
    /// The document with all bins and what is ours.
    pub document: String,
    /// fio's text, where it was asked for.
    pub normal: String,
    /// The terse form, where it was asked for.
    pub terse: String,
}
