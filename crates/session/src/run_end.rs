//! How a run ended that has no result.

use crate::prepare::PrepareError;
use iosonde_base::exit;
use std::fmt;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// A signal asked for the end.
    Stopped {
        /// It came twice: jobs still run.
        twice: bool,
    },
    /// Something failed: the reasons, a line each.
    Failed(Vec<String>),
}

impl RunEnd {
    /// For one reason.
    pub fn failed(why: impl Into<String>) -> RunEnd {
        RunEnd::Failed(vec![why.into()])
    }

    /// The same, with words before the reasons of a failure.
    #[must_use]
    pub fn about(self, words: &str) -> RunEnd {
        match self {
            RunEnd::Stopped { .. } => self,
            RunEnd::Failed(reasons) => RunEnd::failed(format!("{words}: {}", reasons.join("; "))),
        }
    }

    /// The reasons as lines.
    pub fn reasons(self) -> Vec<String> {
        match self {
            RunEnd::Stopped { .. } => vec![self.to_string()],
            RunEnd::Failed(reasons) => reasons,
        }
    }
}

impl From<PrepareError> for RunEnd {
    fn from(refused: PrepareError) -> RunEnd {
        RunEnd::Failed(refused.reasons)
    }
}

impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunEnd::Stopped { .. } => f.write_str("stopped"),
            RunEnd::Failed(reasons) => f.write_str(&reasons.join("; ")),
        }
    }
}

impl std::error::Error for RunEnd {}

/// End the program under jobs that still run, as was asked twice.
pub fn give_up() -> ! {
    std::process::exit(exit::SIGNALLED.into())
}
