//! The search for the highest rate, or number of jobs, that keeps the promises (`--slo`).

use super::arguments::SweepArgs;
use super::find::{FindOption, FoundOption};
use super::runs::{SweepRuns, with_settings};
use crate::trials::settings::OptionSetting;
use iosonde_base::text::rough_time;
use iosonde_judge::{SloOutcome, SloPhase, SloStep};
use iosonde_report::Report;
use iosonde_session::RunEnd;
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
    /// The value that was tried: the rate of each job in I/Os a second, or jobs.
    pub value: f64,
    /// Which part of the search it belongs to.
    pub phase: SloPhase,
    /// The figures of the promises, as text.
    pub values: Vec<String>,
    /// Whether all promises were kept.
    pub kept: bool,
    /// The file of its result.
    pub file: String,
}

/// What is searched unless `--find` says it.
const RATE: FindOption = FindOption { option: FoundOption::Rate, range: None };
/// A search of a rate begins at this part of the rate without a limit: runs at low rates take
/// long, as percentiles need a number of I/Os.
const START_SHARE: f64 = 0.5;
/// Runs of a usual search: up or down once or twice, five to halve the gap, and to confirm.
const PROBES_USUAL: f64 = 7.0;
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
) -> Result<(), RunEnd> {
    let find = arguments.find.clone().unwrap_or(RATE);
    found.promises = arguments.slo.iter().map(|one| one.text.clone()).collect();
    found.find = find.option.name().to_owned();
    runs.lay_out(&runs.base.clone())?;
    let start = match (find.option, find.range) {
        (FoundOption::Rate, None) => (runs.measure_free_rate()? * START_SHARE).max(1.0),
        (_, range) => range.map_or(1.0, |(low, _)| low),
    };
    announce(runs, arguments, find.option, start)?;
    let mut search = find.search(start, arguments.confirm);
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
                let at = ProbePoint { option: find.option, value: rate.round().max(1.0), phase };
                let probe = probe(runs, arguments, at, found.probes.len())?;
                search.record(probe.kept);
                found.probes.push(probe);
            }
        }
    }
}

/// Print where the search begins and about how long it takes.
fn announce(
    runs: &SweepRuns<'_>,
    arguments: &SweepArgs,
    option: FoundOption,
    start: f64,
) -> Result<(), RunEnd> {
    let mut parsed = with_settings(&runs.base, &[], arguments.ramp).map_err(RunEnd::Failed)?;
    if option == FoundOption::Rate {
        lengthen(&mut parsed, arguments, start).map_err(RunEnd::failed)?;
    }
    let seconds = parsed.jobs.iter().map(|job| {
        job.spec.time.runtime.get().secs_f64() + job.spec.time.ramp_time.get().secs_f64()
    });
    let each = seconds.fold(0.0, f64::max);
    let number = PROBES_USUAL + f64::from(arguments.confirm);
    iosonde_sys::standard_error::print_error(&format!(
        "iosonde: sweep: the search begins at {}={start:.0}; about {number} runs of {}, {} in all: \
         longer where it ends at a low rate",
        option.name(),
        rough_time(each),
        rough_time(each * number)
    ));
    Ok(())
}

/// What a run is at.
#[derive(Clone, Copy)]
struct ProbePoint {
    option: FoundOption,
    value: f64,
    phase: SloPhase,
}

/// One run at a value, or the one that was made before.
fn probe(
    runs: &mut SweepRuns<'_>,
    arguments: &SweepArgs,
    at: ProbePoint,
    number: usize,
) -> Result<SloProbe, RunEnd> {
    let ProbePoint { option, value, phase } = at;
    let name = option.name();
    let file = format!("{:03}.json", number + 1);
    let failed = RunEnd::failed;
    let result = if runs.is_kept(&file) {
        runs.stored(&file).map_err(failed)?
    } else {
        let setting =
            OptionSetting { section: None, name: name.into(), value: Some(format!("{value}")) };
        let parsed = with_settings(&runs.base, &[setting], arguments.ramp);
        let mut parsed = parsed.map_err(RunEnd::Failed)?;
        if option == FoundOption::Rate {
            lengthen(&mut parsed, arguments, value).map_err(failed)?;
        }
        let entry = json!({ "probe": number, name: value });
        let words = format!("{phase:?}, probe {}: {name}={value}", number + 1);
        runs.run_once(&parsed, &file, entry, &words)?
    };
    let report = &result.report;
    let judged: Vec<_> = arguments.slo.iter().map(|one| one.judge(report)).collect();
    // Jobs have their own rate; whether they keep up is the promise.
    let is_reached = option == FoundOption::Jobs || is_reached(report, value);
    let mut values: Vec<String> = judged.iter().map(|one| one.value.clone()).collect();
    if !is_reached {
        values.push("rate not reached".into());
    }
    let kept = is_reached && judged.iter().all(|one| one.kept);
    Ok(SloProbe { value, phase, values, kept, file })
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
