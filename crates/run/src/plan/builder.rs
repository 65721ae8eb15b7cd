//! Jobs that the program makes itself: typed values instead of text of the job
//! language.
//!
//! A path is taken as it is, whatever bytes it has; nothing is escaped, parsed
//! again, or read from the environment.

use super::{ExternalEngines, PlannedJobs, Planner, Totals, plan_with, resolve};
use crate::job::Plan;
use iosonde_options::{Diagnostic, Level, Origin, Setting};
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::{JobSpec, SetError};
use std::path::{Path, PathBuf};

/// One job over one file, in the making.
#[derive(Clone, Debug)]
pub struct JobBuilder {
    name: String,
    path: PathBuf,
    spec: JobSpec,
}

impl JobBuilder {
    /// A job of this name over this file or device; all options at their
    /// defaults.
    pub fn new(name: impl Into<String>, path: &Path) -> JobBuilder {
        JobBuilder { name: name.into(), path: path.to_owned(), spec: JobSpec::default() }
    }

    /// Set an option to a value of its type.
    pub fn set<T>(
        &mut self,
        setting: impl for<'a> FnOnce(&'a mut JobSpec) -> &'a mut Setting<T>,
        value: T,
    ) -> &mut JobBuilder {
        setting(&mut self.spec).force(value, "iosonde");
        self
    }

    /// Set an option that only the engine has, or one with text that a user typed.
    ///
    /// # Errors
    /// The option or its value is unknown.
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<&mut JobBuilder, SetError> {
        self.spec.set(name, Some(text), Origin::Default)?;
        Ok(self)
    }

    /// Resolve and plan this job alone.
    ///
    /// # Errors
    /// The first error among its diagnostics.
    pub fn plan(self) -> Result<Plan, Diagnostic> {
        let PlannedJobs { plan, diagnostics, .. } = plan_built(vec![self], Totals::AsAsked);
        match diagnostics.into_iter().find(|diagnostic| diagnostic.level >= Level::Error) {
            Some(error) => Err(error),
            None => Ok(plan),
        }
    }
}

/// Resolve and plan jobs that start together.
pub fn plan_built(jobs: Vec<JobBuilder>, totals: Totals) -> PlannedJobs {
    let mut paths = Vec::new();
    let mut sections = Vec::new();
    for JobBuilder { name, path, spec } in jobs {
        paths.push(path);
        sections.push(ParsedJob {
            name,
            spec,
            globals: Vec::new(),
            typed: Vec::new(),
            origin: Origin::Default,
            begins_file: false,
        });
    }
    let mut diagnostics = resolve(&mut sections, ExternalEngines::Load);
    if diagnostics.iter().any(|diagnostic| diagnostic.level >= Level::Error) {
        return PlannedJobs { diagnostics, ..PlannedJobs::default() };
    }
    let PlannedJobs { plan, diagnostics: planning, refused } =
        plan_with(Planner { paths, ..Planner::new(&sections, totals) });
    diagnostics.extend(planning);
    PlannedJobs { plan, diagnostics, refused }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    fn builder(path: &Path) -> JobBuilder {
        let mut job = JobBuilder::new("job", path);
        job.set(|spec| &mut spec.size.size, Some(iosonde_options::Amount::Bytes(8192)));
        job
    }

    #[test]
    fn a_path_keeps_every_byte() {
        let path = std::env::temp_dir().join(OsStr::from_bytes(b"iosonde:built\\,\xff 1"));
        let plan = builder(&path).plan().unwrap();
        assert_eq!(plan.jobs[0].files.len(), 1);
        assert_eq!(plan.jobs[0].files[0].path, path);
    }

    #[test]
    fn jobs_that_are_built_start_together_each_on_its_file() {
        let paths = [Path::new("/tmp/iosonde-built-a"), Path::new("/tmp/iosonde-built-b")];
        let planned = plan_built(paths.map(builder).into(), Totals::AsAsked);
        assert!(planned.diagnostics.is_empty(), "{:?}", planned.diagnostics);
        assert_eq!(planned.plan.waves, [[0, 1]]);
        let files = planned.plan.jobs.iter().map(|job| job.files[0].path.as_path());
        assert_eq!(files.collect::<Vec<_>>(), paths);
    }

    #[test]
    fn a_rule_that_is_broken_is_an_error_and_no_plan() {
        let mut job = builder(Path::new("/tmp/iosonde-built-c"));
        job.set(|spec| &mut spec.size.size, Some(iosonde_options::Amount::Bytes(1)));
        let error = job.plan().unwrap_err();
        assert!(error.message.contains("size too small"), "{error}");
    }

    #[test]
    fn an_option_that_nobody_has_is_an_error() {
        let mut job = builder(Path::new("/tmp/iosonde-built-d"));
        assert!(job.set_text("no_such_option", "1").is_err());
        job.set_text("ioengine", "io_uring").unwrap().set_text("hipri", "1").unwrap();
    }
}
