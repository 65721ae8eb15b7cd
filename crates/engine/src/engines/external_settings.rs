//! Which shared object an engine is loaded from (`external:`).

use crate::OwnSettings;

/// Which object, and what it does not see otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalSettings {
    /// Where the object is.
    pub path: String,
    /// The names of the job's files.
    pub names: Vec<String>,
}

impl OwnSettings for ExternalSettings {
    /// What an engine that is not ours does is not known.
    fn uses_other_threads(&self) -> bool {
        true
    }
}
