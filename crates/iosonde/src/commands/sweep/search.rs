//! The search for the highest rate that keeps the promises (`--slo`).

use super::arguments::SweepArgs;
use super::runs::{SweepRuns, with_settings};
use crate::trials::run::TrialError;
use crate::trials::settings::OptionSetting;
use iosonde_judge::{SloOutcome, SloPhase, SloSearch, SloStep};
use iosonde_report::Report;
use iosonde_spec::cli::Parsed;
use serde_json::json;
use std::time::Duration;

/// A search, finished or not.
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// The promises, as typed.
    pub promises: Vec<String>,
    /// The option that is searched.
    pub find: String,
    /// The runs, in order.
    pub probes: Vec<SloProbe>,
    /// How it ended; `None` while it has not.
    pub outcome: Option<SloOutcome>,
}

/// One run at one rate.
#[derive(Clone, Debug)]
pub struct SloProbe {
    /// The rate of each job, in I/Os a second.
    pub rate: f64,
    /// Which part of the search it belongs to.
    pub phase: SloPhase,
    /// The figures of the promises, as text.
    pub values: Vec<String>,
    /// Whether all promises were kept.
    pub kept: bool,
    /// The file of its result.
    pub file: String,
}

/// A search begins at this part of the rate without a limit.
const START_SHARE: f64 = 0.01;
/// A rate that was not reached is not kept.
const REACHED_LEAST: f64 = 0.99;
/// A run is made so much longer than its I/Os need.
const LENGTH_SPARE: f64 = 1.1;

/// Search, and keep what is found in `found` as it comes. Probes of earlier
/// runs in the directory are not run again.
///
/// # Errors
/// A run fails, or a signal comes.
pub fn search(
    runs: &mut SweepRuns<'_>,
    arguments: &SweepArgs,
    found: &mut SearchResult,
) -> Result<(), TrialError> {
    let range = arguments.find.as_ref().and_then(|find| find.range);
    found.promises = arguments.slo.iter().map(|one| one.text.clone()).collect();
    found.find = arguments.find.as_ref().map_or("rate_iops".into(), |find| find.name.clone());
    runs.lay_out(&runs.base.clone())?;
    let start = match range {
        Some((low, _)) => low,
        None => (runs.measure_free_rate()? * START_SHARE).max(1.0),
    };
    let mut search = SloSearch::new(start, range, arguments.confirm);
    loop {
        match search.step() {
            SloStep::Done(outcome) => {
                found.outcome = Some(outcome);
                return Ok(());
            }
            SloStep::Probe { rate, phase } => {
                if runs.is_spent() {
                    return Ok(());
                }
                let probe =
                    probe(runs, arguments, rate.round().max(1.0), phase, found.probes.len())?;
                search.record(probe.kept);
                found.probes.push(probe);
            }
        }
    }
}

/// One run at a rate, or the one that was made before.
fn probe(
    runs: &mut SweepRuns<'_>,
    arguments: &SweepArgs,
    rate: f64,
    phase: SloPhase,
    number: usize,
) -> Result<SloProbe, TrialError> {
    let file = format!("{:03}.json", number + 1);
    let failed = TrialError::Failed;
    let result = match runs.is_kept(&file) {
        true => runs.stored(&file).map_err(failed)?,
        false => {
            let setting = OptionSetting {
                section: None,
                name: "rate_iops".into(),
                value: Some(format!("{rate}")),
            };
            let parsed = with_settings(&runs.base, &[setting], arguments.ramp);
            let mut parsed = parsed.map_err(|reasons| failed(reasons.join("; ")))?;
            lengthen(&mut parsed, arguments, rate).map_err(failed)?;
            let entry = json!({ "probe": number, "rate_iops": rate });
            let words = format!("{phase:?}, probe {}: rate_iops={rate}", number + 1);
            runs.run_once(&parsed, &file, entry, &words)?
        }
    };
    let report = &result.report;
    let judged: Vec<_> = arguments.slo.iter().map(|one| one.judge(report)).collect();
    let is_reached = is_reached(report, rate);
    let mut values: Vec<String> = judged.iter().map(|one| one.value.clone()).collect();
    if !is_reached {
        values.push("rate not reached".into());
    }
    let kept = is_reached && judged.iter().all(|one| one.kept);
    Ok(SloProbe { rate, phase, values, kept, file })
}

/// Make a run as long as its percentiles need: ten I/Os beyond each.
fn lengthen(parsed: &mut Parsed, arguments: &SweepArgs, rate: f64) -> Result<(), String> {
    let ios = arguments.slo.iter().map(|one| one.ios_needed()).max().unwrap_or(0);
    let needed = Duration::from_secs_f64(ios as f64 * LENGTH_SPARE / rate);
    for job in &mut parsed.jobs {
        let runtime = job.spec.time.runtime.get().secs_f64();
        if needed.as_secs_f64() > runtime {
            let text = format!("{}ms", needed.as_millis().max(1));
            let setting = OptionSetting {
                section: Some(job.name.clone()),
                name: "runtime".into(),
                value: Some(text.clone()),
            };
            let origin = iosonde_options::Origin::Implied { by: "sweep --slo" };
            job.spec
                .set("runtime", Some(&text), origin)
                .map_err(|error| format!("{}: {error}", setting.text()))?;
        }
    }
    Ok(())
}

/// Whether each direction had the rate that was asked for.
fn is_reached(report: &Report, rate: f64) -> bool {
    let jobs = report.jobs.iter();
    let mut lanes = jobs.flat_map(|job| {
        let clones = f64::from(job.clones.max(1));
        job.dirs.0.iter().filter(|dir| dir.total_ios > 0).map(move |dir| (dir.iops(), clones))
    });
    lanes.all(|(iops, clones)| iops >= rate * clones * REACHED_LEAST)
}
