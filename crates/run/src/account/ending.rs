//! How a run ended, for its conclusion.

use crate::conductor::RunOutcome;
use crate::job::{JobPlan, Plan};
use crate::worker::JobResult;
use iosonde_report::conclusion::{FailedPart, RunEnding, StoppedRun};

/// How it ended, from what all its jobs handed over.
pub fn ending(plan: &Plan, outcome: &RunOutcome) -> RunEnding {
    let jobs = || plan.jobs.iter().zip(&outcome.results);
    let failed = |(job, result): (&JobPlan, &Option<JobResult>)| {
        let error = result.as_ref()?.error.as_ref()?;
        Some(FailedPart { name: job.name.clone(), why: error.to_string() })
    };
    let lost = outcome.seen.iter().flat_map(|seen| seen.write_back_errors());
    let stopped = stopped_by(outcome).map(|by| {
        let (ran_ns, planned_ns) = times(plan, outcome);
        StoppedRun { by, ran_ns, planned_ns }
    });
    let missing = jobs().filter(|(_, result)| result.is_none() && stopped.is_none());
    RunEnding {
        jobs: plan.jobs.len() as u64,
        failed: jobs().filter_map(failed).collect(),
        not_started: missing.map(|(job, _)| job.name.clone()).collect(),
        not_written_back: lost
            .map(|(job, why)| FailedPart { name: plan.jobs[job].name.clone(), why: why.to_owned() })
            .collect(),
        idle: jobs().filter_map(|(job, result)| super::idle(job, result.as_ref()?)).collect(),
        stopped,
        of_hosts: false,
    }
}

/// What ended it before its jobs did.
fn stopped_by(outcome: &RunOutcome) -> Option<String> {
    let name = iosonde_sys::signals::name;
    let by_trigger = || outcome.triggered.then(|| "the trigger".to_owned());
    outcome.signal.map(name).or_else(by_trigger).or_else(|| outcome.peers_ended.clone())
}

/// For how long the waves of the plan counted, and were to, where each of their jobs has a
/// time.
fn times(plan: &Plan, outcome: &RunOutcome) -> (u64, Option<u64>) {
    let (mut ran, mut planned) = (0, Some(0u64));
    for wave in &plan.waves {
        let results = wave.iter().filter_map(|&job| outcome.results.get(job)?.as_ref());
        ran += results.map(|result| result.runtime.0).max().unwrap_or(0);
        let times = wave.iter().map(|&job| plan.jobs[job].time.runtime.map(|time| time.0));
        let longest = times.collect::<Option<Vec<u64>>>().and_then(|all| all.into_iter().max());
        planned = planned.zip(longest).map(|(sum, more)| sum.saturating_add(more));
    }
    (ran, planned)
}
