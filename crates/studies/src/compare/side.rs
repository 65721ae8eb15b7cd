//! The results of one side of a comparison.

use crate::trials::figures::errors;
use iosonde_report::Report;
use iosonde_report::conclusion::Outcome;
use iosonde_report::finding::Severity;
use iosonde_result::StoredResult;

/// One result of a side.
#[derive(Clone, Debug)]
pub struct SideRun {
    /// Where it came from.
    pub file: String,
    /// What it says.
    pub result: StoredResult,
}

impl SideRun {
    /// The account of the run.
    pub fn report(&self) -> &Report {
        &self.result.report
    }

    /// Why the run is not a good sample, if it is not.
    pub fn mark(&self) -> Option<String> {
        let ended = self.report().ours.conclusion.as_ref().map(|one| &one.outcome);
        let word = match ended {
            Some(Outcome::Failed) => Some("failed"),
            Some(Outcome::Stopped) => Some("stopped early"),
            Some(Outcome::Nothing) => Some("measured nothing"),
            _ => None,
        };
        if let Some(word) = word {
            return Some(word.to_owned());
        }
        let errors = errors(self.report());
        if errors > 0 {
            return Some(iosonde_base::text::counted(errors, "error"));
        }
        let ledger = self.report().ours.ledger.as_ref()?;
        let found = ledger
            .verdict
            .iter()
            .find(|finding| finding.severity >= Severity::Wrong || finding.id == NOT_STEADY)?;
        Some(format!("[{}]", found.id))
    }

    /// Whether a job failed, or data is wrong.
    pub fn has_failed(&self) -> bool {
        let conclusion = self.report().ours.conclusion.as_ref();
        conclusion.is_some_and(|one| one.outcome == Outcome::Failed)
    }

    /// Whether a finding is more than a note.
    pub fn misleads(&self) -> bool {
        let ledger = self.report().ours.ledger.as_ref();
        ledger.is_some_and(|ledger| ledger.verdict.iter().any(|one| one.severity > Severity::Note))
    }
}

const NOT_STEADY: &str = "not-steady";

/// All results of a side.
#[derive(Clone, Debug)]
pub struct CompareSide {
    /// In words: `iodepth=8`, or a file's name.
    pub name: String,
    /// The results, in the order in which they were made or named.
    pub runs: Vec<SideRun>,
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::trials::figures::tests::result;

    /// A side of one result for each of these rates.
    pub fn side(name: &str, iops: &[f64]) -> CompareSide {
        let runs = iops.iter().enumerate().map(|(at, &iops)| SideRun {
            file: format!("{at}.json"),
            result: result(iops, 100_000),
        });
        CompareSide { name: name.into(), runs: runs.collect() }
    }
}
