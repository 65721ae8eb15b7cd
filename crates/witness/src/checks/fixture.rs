//! Ledgers for the rules' tests, and what a rule says of one.

use super::judge;
use iosonde_report::finding::Severity;
use iosonde_report::ledger::Ledger;

#[path = "../../../report/tests/common/ledgers.rs"]
mod ledgers;

pub use ledgers::{clean, series, writer};

/// The findings of a rule in a ledger.
pub fn says(rule: &str, ledger: &Ledger) -> Option<(Severity, String)> {
    let found = judge(ledger).into_iter().find(|finding| finding.id == rule)?;
    Some((found.severity, found.statement))
}
