//! Numbers and lines as all commands write them.

use iosonde_base::bare;
pub use iosonde_base::text::{bytes, exact_bytes as exact};
use iosonde_report::finding::Finding;
use iosonde_report::formats::{Style, findings_text};
use iosonde_sys::terminal::columns;
use std::path::Path;

/// A path or text from elsewhere, safe to print: control characters, which may
/// move the cursor, become spaces.
pub fn printable(text: impl AsRef<Path>) -> String {
    let text = text.as_ref().to_string_lossy();
    text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect()
}

/// Write `text` after `lead`, as wide as the terminal, and on further lines
/// below where it began.
pub fn wrapped(out: &mut String, lead: &str, text: &str) {
    let text = printable(bare(text));
    let line =
        format!("{lead}{}", iosonde_base::text::wrap(&text, lead.chars().count(), columns()));
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Findings as the verdict of a run prints them, as wide as the terminal.
pub fn findings(findings: &[Finding]) -> String {
    let shown = |finding: &Finding| Finding {
        statement: printable(bare(&finding.statement)),
        ..finding.clone()
    };
    let shown: Vec<Finding> = findings.iter().map(shown).collect();
    findings_text(&shown, &Style { columns: columns(), ..Style::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_longer_than_a_terminal_is_wide() {
        let mut out = String::new();
        wrapped(&mut out, "  lead  ", &"word ".repeat(60));
        assert!(out.lines().count() > 3);
        assert!(out.lines().all(|line| line.len() <= 80 && line.starts_with("  ")), "{out}");
        assert!(out.lines().skip(1).all(|line| line.starts_with("        word")), "{out}");
    }
}
