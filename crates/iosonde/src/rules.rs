//! The rules behind findings, of the verdict, of audits and of probes:
//! `iosonde explain ID` prints them.

use iosonde_report::finding::FindingRule;

/// The rule or rules of that id as text; an id may be one of a verdict and one
/// of an audit, where both look for the same thing.
pub fn explain(id: &str) -> Option<String> {
    let mut found = Vec::new();
    add(iosonde_witness::rules(), id, "verdict of a run", &mut found);
    (!found.is_empty()).then(|| found.join("\n"))
}

/// The ids of all rules.
pub fn ids() -> impl Iterator<Item = &'static str> {
    iosonde_witness::rules().iter().map(|rule| rule.id)
}

fn add<Facts>(rules: &[FindingRule<Facts>], id: &str, found_by: &str, found: &mut Vec<String>) {
    found.extend(rules.iter().filter(|rule| rule.id == id).map(|rule| rule.explain(found_by)));
}
