//! The rules behind findings, of the verdict, of audits and of probes:
//! `iosonde explain ID` prints them.

use iosonde_report::finding::FindingRule;
use iosonde_result::audit;
use iosonde_tools::probe::hazards;

/// The rule or rules of that id as text; an id may be one of a verdict and one
/// of an audit, where both look for the same thing.
pub fn explain(id: &str) -> Option<String> {
    let mut found = Vec::new();
    add(iosonde_witness::rules(), id, "verdict of a run", &mut found);
    add(audit::RULES, id, "iosonde audit", &mut found);
    add(hazards::rules(), id, "iosonde probe", &mut found);
    (!found.is_empty()).then(|| found.join("\n"))
}

/// The ids of all rules.
pub fn ids() -> impl Iterator<Item = &'static str> {
    let verdict = iosonde_witness::rules().iter().map(|rule| rule.id);
    let audit = audit::RULES.iter().map(|rule| rule.id);
    verdict.chain(audit).chain(hazards::rules().map(|rule| rule.id))
}

fn add<Facts: 'static>(
    rules: impl IntoIterator<Item = &'static FindingRule<Facts>>,
    id: &str,
    found_by: &str,
    found: &mut Vec<String>,
) {
    let named = rules.into_iter().filter(|rule| rule.id == id);
    found.extend(named.map(|rule| rule.explain(found_by)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_explained() {
        for id in ids() {
            let text = explain(id).expect(id);
            assert!(text.starts_with(id) && text.contains("What to do: "), "{text}");
        }
        assert_eq!(explain("no-such-rule"), None);
    }

    #[test]
    fn the_page_of_the_tools_lists_each_rule_of_audit_and_probe() {
        let page = include_str!("../../../docs/tools.md");
        let audit = audit::RULES.iter().map(|rule| (rule.id, &rule.severity));
        let hazards = hazards::rules().map(|rule| (rule.id, &rule.severity));
        for (id, severity) in audit.chain(hazards) {
            let listed = |line: &str| {
                line.starts_with(&format!("| `{id}` |"))
                    && line.ends_with(&format!("| {} |", severity.word()))
            };
            assert!(page.lines().any(listed), "{id}");
        }
    }
}
