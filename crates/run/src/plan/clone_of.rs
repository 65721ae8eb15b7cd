//! A clone of a section: what the plan of a job starts from.

use iosonde_engine::EngineDef;
use iosonde_spec::cli::ParsedJob;

/// A clone of a section, to be planned.
#[derive(Clone, Copy)]
pub(super) struct CloneOf<'a> {
    pub job: &'a ParsedJob,
    pub engine: &'static EngineDef,
    /// Which section of the command line.
    pub section: usize,
    /// Which clone of it.
    pub clone: u32,
    /// Thread number over all jobs, from 1.
    pub number: u32,
}
