//! Options of exec, and the program that they describe.

use crate::{EngineOptionTable, JobContext, OwnOptions, OwnSettings};
use iosonde_options::{Category, Diagnostic, options};
use std::path::PathBuf;

/// For the catalogue.
pub(super) static OPTIONS: EngineOptionTable =
    EngineOptionTable::of::<ExecOptions>(ExecOptions::OPTIONS);

options! {
    /// exec
    pub(super) struct ExecOptions in Category::Engine {
        /// The program to run.
        program: Option<String> = "" as "program" {
            good: &["/bin/true"],
        }
        /// Its arguments; `%r` is the runtime in seconds, `%n` the job's name.
        arguments: Option<String> = "" as "arguments" {
            good: &["-t %r"],
        }
        /// Seconds between asking it to end and making it.
        grace_time: u32 = "1" as "grace_time" {
            good: &["1", "10"],
        }
        /// Send its output to files named after the job.
        std_redirect: bool = "1" as "std_redirect" {}
    }
}

/// What exec runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecSettings {
    /// The program.
    pub program: String,
    /// Its arguments, one by one.
    pub arguments: Vec<String>,
    /// Seconds between SIGTERM and SIGKILL.
    pub grace_s: u32,
    /// Its output goes to files of this name with `.stdout` and `.stderr`
    /// added; `None` for our own output.
    pub output: Option<PathBuf>,
    /// The job goes on after the program has ended.
    pub outlasts: bool,
}

impl ExecSettings {
    /// Where standard output and standard error go; none for our own.
    pub(super) fn output_files(&self) -> Option<[PathBuf; 2]> {
        let name = self.output.as_ref()?;
        // `set_extension` would cut at a dot.
        Some([".stdout", ".stderr"].map(|suffix| {
            let mut whole = name.as_os_str().to_owned();
            whole.push(suffix);
            whole.into()
        }))
    }
}

impl OwnSettings for ExecSettings {
    fn outputs(&self) -> Vec<PathBuf> {
        self.output_files().into_iter().flatten().collect()
    }
}

impl OwnOptions for ExecOptions {
    type Settings = ExecSettings;

    /// fio(1): `%r` is the runtime in seconds, `%n` the job's name.
    fn settings(&self, job: &JobContext) -> Result<ExecSettings, Diagnostic> {
        let arguments = self.arguments.get().as_deref().unwrap_or_default();
        let arguments = arguments.replace("%r", &job.runtime_s.to_string()).replace("%n", job.name);
        Ok(ExecSettings {
            program: self.program.get().clone().unwrap_or_default(),
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
            grace_s: *self.grace_time.get(),
            output: self.std_redirect.get().then(|| PathBuf::from(job.name)),
            outlasts: job.runtime_s > 0,
        })
    }
}
