//! Results that were written before, ours and fio's of any version, read back
//! into one shape: the [`Report`] that all formats start from.
//!
//! [`read`] takes the text of a file. fio's JSON of 2.x and 3.x differs in
//! units and names (microseconds, KiB, `clat` and `clat_ns`); the report has
//! bytes and nanoseconds whatever was read. What the text lacks is zero or
//! `None` in the report and named in [`StoredResult::notes`]; a document
//! without the figures that make it a result is refused with the key that is
//! missing. [`audit`] checks a result of fio against its own disk counters. Nothing
//! here opens a file.

#![forbid(unsafe_code)]

pub mod audit;
mod bounds;
mod culprit;
mod documents;
mod era;
mod fio;
mod job;
mod latency;
mod member;
mod ours;

use iosonde_report::Report;
use iosonde_report::conclusion::{Conclusion, Outcome, RunEnding, conclude};
use serde_json::Value;
use std::fmt;

/// A result that was written before.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredResult {
    /// What it says, in the units of a report.
    pub report: Report,
    /// What wrote it.
    pub source: ResultSource,
    /// What was derived, left out or not there, a sentence each.
    pub notes: Vec<String>,
}

/// What wrote a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultSource {
    /// fio, or a program with its JSON.
    Fio {
        /// As written: `fio-3.33`.
        version: String,
    },
    /// iosonde: ledger, series and fingerprint may be there.
    Iosonde {
        /// As written: `iosonde 0.1.0`.
        version: String,
        /// `iosonde.schema`; 0 where the document has none.
        schema: u64,
    },
}

impl ResultSource {
    /// The program and its version.
    pub fn version(&self) -> &str {
        match self {
            ResultSource::Fio { version } | ResultSource::Iosonde { version, .. } => version,
        }
    }
}

/// Why a text is not a result: a sentence that begins with "it".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError(String);

impl ReadError {
    pub(crate) fn new(reason: impl Into<String>) -> ReadError {
        ReadError(reason.into())
    }

    /// A key that a result must have, by its place: `jobs[0].read.runtime`.
    pub(crate) fn missing(place: &str, wanted: &str) -> ReadError {
        ReadError(format!("it is not a whole result: {place} is missing ({wanted})"))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReadError {}

/// Read a result. Text before the document is skipped, as programs print notes
/// there; of several documents, as `--status-interval` writes them, the last
/// whole one counts.
///
/// # Errors
/// The text has no document, is cut off, or is not a result.
pub fn read(text: &str) -> Result<StoredResult, ReadError> {
    let documents::Found { mut document, mut notes } = documents::last(text)?;
    notes.extend(bounds::bound(&mut document));
    let (mut report, version) = fio::report(&document, &mut notes)?;
    let source = match document.get_mut("iosonde").map(Value::take) {
        Some(ours) => ours::add(ours, &mut report, &mut notes)?,
        None => ResultSource::Fio { version },
    };
    conclude_failures(&mut report);
    Ok(StoredResult { report, source, notes })
}

/// Of a run that failed, say so first, where who wrote the result did not: fio, and versions
/// of iosonde before outcomes were stored.
fn conclude_failures(report: &mut Report) {
    let ending = RunEnding::of_jobs(&report.jobs);
    let wrong = report.ours.jobs.iter().filter_map(|job| job.verify.as_ref());
    let has_failed =
        !ending.failed.is_empty() || wrong.map(|verify| verify.counts.wrong).sum::<u64>() > 0;
    let is_said = |conclusion: &Conclusion| conclusion.outcome != Outcome::Completed;
    if has_failed && !report.ours.conclusion.as_ref().is_some_and(is_said) {
        report.ours.conclusion = Some(conclude(report, &ending));
    }
}
