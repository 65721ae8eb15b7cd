//! Findings as lines for a person: the same for verdict, audit and probe.

use super::Style;
use super::native::paint::{Mark, paint};
use crate::finding::{Finding, Severity};
use iosonde_base::text::wrap;

/// Columns before a statement.
const INDENT: usize = 12;

/// For each finding its severity, the statement with the rule's id, and a line
/// with what to do.
pub fn findings_text(findings: &[Finding], style: &Style) -> String {
    let mut text = String::new();
    for finding in findings {
        let mark = match finding.severity {
            Severity::Note => Mark::Label,
            Severity::Warning => Mark::Note,
            Severity::Wrong => Mark::Error,
        };
        text.push_str(&paint(format!("  {:<10}", finding.severity.word()), mark, style));
        let statement = format!("{} [{}]", finding.statement, finding.id);
        text.push_str(&wrap(&statement, INDENT, style.columns));
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', INDENT));
        // Further lines of the remedy begin below its first word.
        text.push_str("-> ");
        text.push_str(&wrap(&finding.remedy, INDENT + 3, style.columns));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_has_its_severity_statement_id_and_remedy() {
        let finding = Finding {
            id: "short-run".into(),
            severity: Severity::Note,
            jobs: Vec::new(),
            statement: "measured for 300 ms, 12 I/Os".into(),
            remedy: "set runtime=60 and time_based".into(),
        };
        let style = Style { colour: false, columns: 40 };
        assert_eq!(
            findings_text(&[finding], &style),
            "  note      measured for 300 ms, 12 I/Os\n            [short-run]\n            \
             -> set runtime=60 and\n               time_based\n"
        );
    }
}
