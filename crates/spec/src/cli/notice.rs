//! Something to tell about a job before it runs: in our words, and in fio's.

use iosonde_options::{Diagnostic, Level, Origin};

/// A diagnostic, and the lines that fio prints in the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// In our own words, with its origin.
    pub diagnostic: Diagnostic,
    /// In fio's words, a line each; empty where fio says nothing.
    pub fio: Vec<String>,
}

impl Notice {
    /// Of something that fio has no words for.
    pub fn new(diagnostic: Diagnostic) -> Self {
        Notice { diagnostic, fio: Vec::new() }
    }

    /// An error at `origin`, for which fio prints `fio`.
    pub fn error(origin: &Origin, message: impl Into<String>, fio: Vec<String>) -> Self {
        Notice { diagnostic: Diagnostic::error(message).about("", origin), fio }
    }

    /// Whether no job may run.
    pub fn is_error(&self) -> bool {
        self.diagnostic.level == Level::Error
    }
}
