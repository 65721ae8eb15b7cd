//! Findings as lines for a person: the same for verdict, audit and probe.

use super::style::{Mark, Style, paint};
use crate::finding::{Finding, Severity};
use iosonde_base::text::wrap;

/// Columns before a statement.
const INDENT: usize = 12;

/// For each finding its severity, the statement with the rule's id, and a line
/// with what to do.
pub fn findings_text(findings: &[Finding], style: &Style) -> String {
    let mut text = String::new();
    for finding in findings {
        text.push_str(&label(finding, style));
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

/// For each finding one line: its severity, its id, and as much of the
/// statement as fits.
pub fn findings_folded(findings: &[Finding], style: &Style) -> String {
    let mut text = String::new();
    for finding in findings {
        text.push_str(&label(finding, style));
        let statement = format!("{}: {}", finding.id, finding.statement);
        text.push_str(&first_words(&statement, style.columns.saturating_sub(INDENT)));
        text.push('\n');
    }
    text
}

fn label(finding: &Finding, style: &Style) -> String {
    let mark = match finding.severity {
        Severity::Note => Mark::Label,
        Severity::Warning => Mark::Note,
        Severity::Wrong | Severity::Other(_) => Mark::Error,
    };
    paint(format!("  {:<10}", finding.severity.word()), mark, style)
}

/// The first words of a sentence that fit: up to the end of a clause if more
/// than half of them do, else with an ellipsis.
fn first_words(sentence: &str, columns: usize) -> String {
    if sentence.chars().count() <= columns {
        return sentence.to_owned();
    }
    let fitting: String = sentence.chars().take(columns.saturating_sub(4)).collect();
    let clause = [": ", "; "].iter().filter_map(|end| fitting.rfind(end)).max();
    match clause.filter(|&at| at * 2 > fitting.len()) {
        Some(at) => format!("{} ...", &fitting[..at]),
        None => {
            let word = fitting.rfind(' ').unwrap_or(fitting.len());
            format!("{} ...", fitting[..word].trim_end_matches([',', ';', ':']))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short_run() -> Finding {
        Finding {
            id: "short-run".into(),
            severity: Severity::Note,
            jobs: Vec::new(),
            statement: "measured for 300 ms, 12 I/Os".into(),
            remedy: "set runtime=60 and time_based".into(),
        }
    }

    #[test]
    fn a_finding_has_its_severity_statement_id_and_remedy() {
        let style = Style { columns: 40, ..Style::default() };
        assert_eq!(
            findings_text(&[short_run()], &style),
            "  note      measured for 300 ms, 12 I/Os\n            [short-run]\n            \
             -> set runtime=60 and\n               time_based\n"
        );
    }

    #[test]
    fn a_folded_finding_is_one_line_that_says_when_it_is_cut() {
        let wide = Style::default();
        let line = "  note      short-run: measured for 300 ms, 12 I/Os\n";
        assert_eq!(findings_folded(&[short_run()], &wide), line);
        for columns in 30..60 {
            let style = Style { columns, ..Style::default() };
            let line = findings_folded(&[short_run()], &style);
            assert!(line.trim_end().chars().count() <= columns, "{columns}: {line}");
            assert!(line.contains("12 I/Os") || line.ends_with(" ...\n"), "{line}");
        }
    }
}
