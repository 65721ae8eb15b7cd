//! What a result of fio proves about itself: its jobs next to the disk counters that it
//! contains.

mod checks;
mod fio_result;
mod rules;

use crate::StoredResult;
use iosonde_report::finding::{Finding, judge};

pub use fio_result::FioResult;
pub use rules::RULES;

/// What the disk counters of a result say about its figures.
pub fn findings(stored: &StoredResult) -> Vec<Finding> {
    judge(RULES, &FioResult::of(stored))
}

impl StoredResult {
    /// The findings of [`findings`] where the result has no ledger, whose verdict is more: fio's.
    pub fn audited(&self) -> Vec<Finding> {
        match self.report.ours.ledger {
            Some(_) => Vec::new(),
            None => findings(self),
        }
    }
}
