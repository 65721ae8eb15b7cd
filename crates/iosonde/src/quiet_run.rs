//! A run of which nothing is printed: jobs to a report, for commands that make
//! their own document of it.

use crate::judged;
use crate::personality::Personality;
use crate::prepare::{Prepared, prepare};
use crate::settings;
use iosonde_report::Report;
use iosonde_run::account::disks::WatchedDisks;
use iosonde_run::account::{ReportExtras, report};
use iosonde_run::conductor::{Observer, RunEvent, conduct};
use iosonde_run::evidence;
use iosonde_run::preflight::open_files;
use iosonde_run::preflight::write_access::{self, DeviceData};
use std::sync::Arc;

/// Takes the disks' counters when the jobs end, and nothing else.
struct EndOnly<'a> {
    disks: &'a WatchedDisks,
    extras: ReportExtras,
}

impl Observer for EndOnly<'_> {
    fn see(&mut self, event: &RunEvent<'_>) {
        if matches!(event, RunEvent::Ended) {
            self.extras.disks = self.disks.used();
        }
    }
}

/// Run the jobs of a command line; the report, with a ledger. A signal ends the jobs: the
/// caller listens for it, too.
///
/// # Errors
/// The reasons why nothing ran or a job failed, a line each.
pub fn run(arguments: &[String]) -> Result<Report, Vec<String>> {
    let Prepared { parsed, mut plan, .. } =
        prepare(Personality::Native, arguments).map_err(|refused| refused.reasons)?;
    let _held = write_access::devices(&plan, DeviceData::Refuse(&[]))
        .map_err(|refusals| refusals.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    // Fewer descriptors than wanted are no reason to stop: opening will fail.
    let _ = open_files::raise(&plan);
    evidence::ask(&mut plan);
    let plan = Arc::new(plan);
    let disks = WatchedDisks::under(&plan);
    let mut observer = EndOnly { disks: &disks, extras: ReportExtras::default() };
    let ended = conduct(plan.clone(), &mut observer)
        .map_err(|error| vec![format!("cannot listen for signals: {error}")])?;
    let failed: Vec<String> = plan
        .jobs
        .iter()
        .zip(&ended.results)
        .filter_map(|(job, result)| Some((job, result.as_ref()?.error.as_ref()?)))
        .map(|(job, error)| format!("job {}: {error}", job.name))
        .collect();
    if !failed.is_empty() {
        return Err(failed);
    }
    let extras = ReportExtras {
        global_options: judged::global_options(&parsed),
        ledger: judged::ledger(&parsed, &plan, &ended),
        settings: Some(settings::settings(&parsed, &plan)),
        ..observer.extras
    };
    Ok(report(&plan, &ended.results, &extras))
}
