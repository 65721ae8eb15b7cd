//! What a run measured.

use crate::run_end::RunEnd;
use iosonde_report::Report;
use iosonde_report::formats::{JsonOptions, fio_json_plus};
use iosonde_run::account::{ReportContext, report};
use iosonde_run::conductor::RunOutcome;
use iosonde_run::job::Plan;
use std::sync::Arc;
use std::time::Duration;

/// A run that took place.
#[derive(Debug)]
pub struct Measured {
    /// What ran.
    pub plan: Arc<Plan>,
    /// Results, and how the run ended.
    pub outcome: RunOutcome,
    /// What its report says besides results: disks, ledger, settings, notes.
    pub context: ReportContext,
    /// How long it took with all that is around it.
    pub wall: Duration,
}

impl Measured {
    /// The report.
    pub fn report(&self) -> Report {
        report(&self.plan, &self.outcome.results, &self.context)
    }

    /// How a signal ended it, if one did.
    pub fn stopped(&self) -> Option<RunEnd> {
        self.outcome.signal.map(|_| RunEnd::Stopped { twice: self.outcome.abandoned })
    }

    /// The first job that failed or did not start, and why.
    pub fn failed_job(&self) -> Option<(&str, String)> {
        let mut jobs = self.plan.jobs.iter().zip(&self.outcome.results);
        jobs.find_map(|(job, result)| {
            let why = match result {
                None => "did not start".to_owned(),
                Some(result) => result.error.as_ref()?.to_string(),
            };
            Some((job.name.as_str(), why))
        })
    }

    /// The same, if no signal ended it and all jobs succeeded.
    ///
    /// # Errors
    /// How it ended.
    pub fn complete(self) -> Result<Measured, RunEnd> {
        let failed = |(job, why)| RunEnd::failed(format!("FAILED: job {job}: {why}"));
        match self.stopped().or_else(|| self.failed_job().map(failed)) {
            Some(end) => Err(end),
            None => Ok(self),
        }
    }
}

/// A report as one of many runs keeps it: JSON with all latency bins.
pub fn document(report: &Report) -> String {
    fio_json_plus(report, &JsonOptions { ours: true })
}
