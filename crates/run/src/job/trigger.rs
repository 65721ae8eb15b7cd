//! What ends a run from outside, and what is done then.

use iosonde_base::Nanos;
use std::path::PathBuf;

/// `--trigger-file`, `--trigger-timeout`, `--trigger`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriggerPlan {
    /// A file that ends the run by being created.
    pub file: Option<PathBuf>,
    /// The run ends after this long.
    pub timeout: Option<Nanos>,
    /// Run by the shell once the jobs have ended and their states are saved.
    pub command: Option<String>,
    /// Where state files are put (`--aux-path`); empty: here.
    pub directory: PathBuf,
    /// What the command prints goes to standard error: standard output is a
    /// document.
    pub to_stderr: bool,
}
