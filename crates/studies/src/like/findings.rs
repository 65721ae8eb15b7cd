//! The findings of several runs, each rule once.

use iosonde_base::text::wrap;
use iosonde_report::Report;
use iosonde_report::finding::{Finding, Severity};
use std::collections::BTreeMap;

/// Warnings and worse, each rule with how many runs it was found in.
#[derive(Debug, Default)]
pub struct FindingCounts(BTreeMap<String, (Finding, u32)>);

impl FindingCounts {
    /// Add those of a run.
    pub fn add(&mut self, report: &Report) {
        for finding in report.ours.ledger.iter().flat_map(|ledger| &ledger.verdict) {
            if finding.severity > Severity::Note {
                let id = finding.id.to_string();
                self.0.entry(id).or_insert_with(|| (finding.clone(), 0)).1 += 1;
            }
        }
    }

    /// Whether the figures are not of what was to be measured.
    pub fn is_wrong(&self) -> bool {
        self.0.values().any(|(finding, _)| finding.severity == Severity::Wrong)
    }

    /// The severity and the words of each, worst first.
    pub fn lines(&self) -> Vec<(Severity, String)> {
        let mut found: Vec<&(Finding, u32)> = self.0.values().collect();
        iosonde_base::sort_by(&mut found, |(one, _), (other, _)| other.severity.cmp(&one.severity));
        let line = |(finding, runs): &(Finding, u32)| {
            let several = if *runs > 1 { format!(" ({runs} runs)") } else { String::new() };
            (finding.severity.clone(), format!("{}{several} [{}]", finding.statement, finding.id))
        };
        found.into_iter().map(line).collect()
    }

    /// A line each, worst first.
    pub fn text(&self) -> String {
        let line = |(severity, words): (Severity, String)| {
            let lead = format!("  {:<8} ", severity.word());
            format!("{lead}{}\n", wrap(&words, lead.len(), 100))
        };
        self.lines().into_iter().map(line).collect()
    }
}
