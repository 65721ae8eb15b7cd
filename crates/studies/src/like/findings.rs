//! The findings of several runs, in words.

use iosonde_base::text::wrap;
use iosonde_report::Report;
use iosonde_report::finding::{Finding, FindingCounts, Severity};

/// Those of a run.
pub fn of(report: &Report) -> impl Iterator<Item = &Finding> {
    report.ours.ledger.iter().flat_map(|ledger| &ledger.verdict)
}

/// The severity and the words of each, worst first.
pub fn with_runs(findings: &FindingCounts) -> Vec<(Severity, String)> {
    let line = |(finding, runs): &(Finding, u32)| {
        let several = if *runs > 1 { format!(" ({runs} runs)") } else { String::new() };
        (finding.severity.clone(), format!("{}{several} [{}]", finding.statement, finding.id))
    };
    findings.all().iter().map(line).collect()
}

/// A line each, worst first.
pub fn text(findings: &FindingCounts) -> String {
    let line = |(severity, words): (Severity, String)| {
        let lead = format!("  {:<8} ", severity.word());
        format!("{lead}{}\n", wrap(&words, lead.len(), 100))
    };
    with_runs(findings).into_iter().map(line).collect()
}
