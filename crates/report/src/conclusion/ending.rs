//! How a run ended, as far as its jobs' figures do not say.

use crate::report::JobReport;
use iosonde_base::text::counted;

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEnding {
    /// How many jobs were to run.
    pub jobs: u64,
    /// Jobs that failed, each with the reason.
    pub failed: Vec<FailedPart>,
    /// Jobs that never started, though nothing stopped the run.
    pub not_started: Vec<String>,
    /// Jobs whose data could not be written back after they had ended, each with the reason.
    pub not_written_back: Vec<FailedPart>,
    /// Reasons why jobs did no I/O.
    pub idle: Vec<String>,
    /// What ended it before the jobs did, if anything.
    pub stopped: Option<StoppedRun>,
    /// The job names are those of hosts.
    pub of_hosts: bool,
}

/// A job or a host that failed, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedPart {
    /// Its name.
    pub name: String,
    /// Why: a fragment without a full stop.
    pub why: String,
}

/// What ended a run before its jobs did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoppedRun {
    /// What did, as `SIGINT`.
    pub by: String,
    /// How long the jobs had counted.
    pub ran_ns: u64,
    /// For how long they were to, where a time was set.
    pub planned_ns: Option<u64>,
}

impl StoppedRun {
    /// A fragment: `stopped after 1.9 of 20 s (SIGINT)`.
    pub(super) fn words(&self) -> String {
        let seconds = |ns: u64| {
            let exact = format!("{:.1}", ns as f64 / 1e9);
            exact.strip_suffix(".0").map(str::to_owned).unwrap_or(exact)
        };
        let ran = seconds(self.ran_ns);
        let span = match self.planned_ns {
            Some(planned) if planned > 0 => format!("{ran} of {} s", seconds(planned)),
            _ => format!("{ran} s"),
        };
        format!("stopped after {span} ({})", self.by)
    }
}

impl RunEnding {
    /// Of a stored result: what its jobs say of themselves.
    pub fn of_jobs(jobs: &[JobReport]) -> RunEnding {
        let failed = jobs.iter().filter_map(|job| {
            let why = job.failure.as_ref()?.words();
            Some(FailedPart { name: job.name.clone(), why })
        });
        RunEnding {
            jobs: jobs.iter().map(|job| u64::from(job.clones.max(1))).sum(),
            failed: failed.collect(),
            ..RunEnding::default()
        }
    }

    /// What failed of all: `2 of 3 jobs`.
    pub(super) fn of_all(&self, some: usize) -> String {
        let noun = if self.of_hosts { "host" } else { "job" };
        format!("{some} of {}", counted(self.jobs.max(some as u64), noun))
    }

    /// Why nothing was measured.
    pub(super) fn idle_words(&self) -> String {
        match self.idle.as_slice() {
            [] => "no job did any I/O".to_owned(),
            [one] => one.clone(),
            [one, rest @ ..] => format!("{one}; and {} more", counted(rest.len() as u64, "job")),
        }
    }
}
