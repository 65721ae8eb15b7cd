//! One sentence on a run, which every output shows first: what failed, or what limited it
//! and what its figures may be used for.

mod ending;
mod failures;
mod limit;
mod stall;
mod time;
mod usable;
mod words;

pub use ending::{FailedPart, RunEnding, StoppedRun};
pub use failures::diagnose;

use crate::ledger::Ledger;
use crate::{JobReport, Report};
use serde::{Deserialize, Serialize};

/// One sentence on a run, how it ended, and what limited it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conclusion {
    /// How it ended: `completed`, `failed` (a job failed, data is wrong or lost), `stopped`
    /// (a signal, the trigger or another host ended it) or `nothing` (no I/O was measured).
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub outcome: Outcome,
    /// Whether its figures may be used as those of the storage: `yes`, `warnings` (with the
    /// warnings of the verdict), `unknown` (a signal was missing, or there is no ledger) or `no`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub usable: Usable,
    /// What limited it: `pace`, `tester`, `memory`, `quota`, `processor`, `storage`, `stall`
    /// (most of the time nothing completed), `mixed` (jobs with different limits) or `unknown`.
    #[serde(rename = "limited_by")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub limit: LimitedBy,
    /// How sure that is: `certain`, `likely` or `unknown`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub certainty: Certainty,
    /// What the threads of the jobs did with their time; missing where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeShares>,
    /// The sentence.
    pub text: String,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All jobs did what they were to do.
    #[default]
    Completed,
    /// A job failed, or data is wrong or lost.
    Failed,
    /// A signal, the trigger or another host ended it.
    Stopped,
    /// No I/O was measured.
    Nothing,
    /// What a newer version knows, in its word.
    #[serde(untagged)]
    Other(String),
}

/// Whether figures may be used as those of the storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Usable {
    /// They may.
    Yes,
    /// With the warnings of the verdict.
    Warnings,
    /// A signal was missing, or nobody looked.
    #[default]
    Unknown,
    /// They are not of the storage, or of a run that failed.
    No,
    /// What a newer version knows, in its word.
    #[serde(untagged)]
    Other(String),
}

/// What limited a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitedBy {
    /// A rate or think time of the job.
    Pace,
    /// The tester itself.
    Tester,
    /// The bytes stayed in memory.
    Memory,
    /// A limit of the control group.
    Quota,
    /// Processor time.
    Processor,
    /// The storage, at the depth that the job kept.
    Storage,
    /// Most of the time nothing completed.
    Stall,
    /// Jobs with different limits.
    Mixed,
    /// It is not known, or the run failed.
    #[default]
    Unknown,
    /// What a newer version found, in its word.
    #[serde(untagged)]
    Other(String),
}

impl LimitedBy {
    /// In a word, as documents have it.
    pub fn word(&self) -> &str {
        match self {
            LimitedBy::Pace => "pace",
            LimitedBy::Tester => "tester",
            LimitedBy::Memory => "memory",
            LimitedBy::Quota => "quota",
            LimitedBy::Processor => "processor",
            LimitedBy::Storage => "storage",
            LimitedBy::Stall => "stall",
            LimitedBy::Mixed => "mixed",
            LimitedBy::Unknown => "unknown",
            LimitedBy::Other(word) => word,
        }
    }
}

/// How sure a limit is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// No limit is named.
    #[default]
    Unknown,
    /// The evidence is for it, and not all of it.
    Likely,
    /// All evidence is for it.
    Certain,
    /// What a newer version knows, in its word.
    #[serde(untagged)]
    Other(String),
}

/// What the threads of the jobs did with their time: shares of it, which add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeShares {
    /// On a processor.
    pub on_processor: f64,
    /// Ready to run, while others had the processors or a control group took them away.
    pub waiting_for_processor: f64,
    /// Asleep: waiting for I/O, or for the moment at which the next is due.
    pub asleep: f64,
}

/// The conclusion on a run that ended like this.
pub fn conclude(report: &Report, ending: &RunEnding) -> Conclusion {
    let ledger = report.ours.ledger.as_deref();
    let stopped = ending.stopped.as_ref().map(StoppedRun::words);
    if let Some(failed) = failures::words(report, ending) {
        let after = stopped.map_or(String::new(), |stopped| format!("; {stopped}"));
        return Conclusion {
            outcome: Outcome::Failed,
            usable: Usable::No,
            text: format!("FAILED: {failed}{after}."),
            ..Conclusion::default()
        };
    }
    let moved = report.jobs.iter().any(has_moved);
    match (stopped, ledger) {
        (Some(stopped), _) if !moved => Conclusion {
            outcome: Outcome::Stopped,
            usable: Usable::No,
            text: format!("{}: nothing was measured.", capital(&stopped)),
            ..Conclusion::default()
        },
        (Some(stopped), ledger) => {
            let completed = completed(report, ledger);
            let text = format!(
                "{}, so these results are incomplete. {}",
                capital(&stopped),
                completed.text
            );
            Conclusion { outcome: Outcome::Stopped, text, ..completed }
        }
        (None, _) if !moved => Conclusion {
            outcome: Outcome::Nothing,
            usable: Usable::No,
            text: format!("Nothing was measured: {}.", ending.idle_words()),
            ..Conclusion::default()
        },
        (None, ledger) => completed(report, ledger),
    }
}

/// Whether a job did any I/O: what engines without I/O count has no run time.
fn has_moved(job: &JobReport) -> bool {
    let timed =
        job.dirs.0.iter().chain(&job.mixed).any(|dir| dir.issued_ios > 0 && dir.runtime_ms > 0);
    timed || job.sync.total_ios > 0
}

/// Of a run that measured something and did not fail.
fn completed(report: &Report, ledger: Option<&Ledger>) -> Conclusion {
    let tolerated = failures::tolerated(report).map_or(String::new(), |words| format!(" {words}."));
    let Some(ledger) = ledger else {
        return Conclusion {
            text: format!("Completed; not judged, as the run has no ledger.{tolerated}"),
            ..Conclusion::default()
        };
    };
    let limited = limit::of(ledger);
    let (usable, use_words) = usable::of(ledger, &limited);
    let text = format!("{}; {use_words}.{tolerated}", words::sentence(ledger, &limited));
    Conclusion {
        outcome: Outcome::Completed,
        usable: if tolerated.is_empty() { usable } else { usable.at_most_with_warnings() },
        limit: limited.limit,
        certainty: limited.certainty,
        time: limited.time,
        text,
    }
}

impl Usable {
    fn at_most_with_warnings(self) -> Usable {
        if self == Usable::Yes { Usable::Warnings } else { self }
    }
}

/// The same with a capital at its beginning.
fn capital(words: &str) -> String {
    let mut rest = words.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}
