//! The result of parsing a command line and its job files.

use iosonde_options::Origin;

use crate::cli::clients::LinePlaces;
use crate::cli::flags::Flags;
use crate::cli::notice::Notice;
use crate::job::{JobSpec, TypedOption};
use crate::text::expand::Variables;

/// Flags, jobs and notices of a command line.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program's flags.
    pub flags: Flags,
    /// The jobs in the order fio numbers them: those of the command line, then each file's.
    pub jobs: Vec<ParsedJob>,
    /// The options of the command line before its first `--name`, as a job: those of a command
    /// line without a job.
    pub defaults: ParsedJob,
    /// All notices, in the order in which they were found.
    pub notices: Vec<Notice>,
    /// With `--showcmd`, each job file as a command line, in fio's form.
    pub shown: Vec<String>,
    /// The job files, as they were named.
    pub files: Vec<String>,
    /// Where job files and servers stand in the command line.
    pub places: LinePlaces,
    /// The environment variables that the job files refer to.
    pub variables: Variables,
}

impl Parsed {
    /// Whether something is so wrong that nothing may run.
    pub fn is_refused(&self) -> bool {
        self.notices.iter().any(Notice::is_error)
    }
}

/// One job as specified, without rules applied.
#[derive(Clone, Debug)]
pub struct ParsedJob {
    /// Its section's name or what `--name` says; `name=` inside a section holds over that.
    pub name: String,
    /// Its options, defaults included.
    pub spec: JobSpec,
    /// The options of `[global]` sections, or from before the first `--name`, that it inherits.
    pub globals: Vec<TypedOption>,
    /// Its own options, as typed.
    pub typed: Vec<TypedOption>,
    /// Where it begins: the section's header, or the argument `--name`.
    pub origin: Origin,
    /// Whether it is the first of a second or later job file and so waits for all before it.
    /// The spec has `stonewall` set then.
    pub begins_file: bool,
}
