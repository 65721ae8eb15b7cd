//! Findings, and the rules that make them: one shape for the verdict of a run,
//! for `iosonde audit` and for `iosonde probe`.

use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// How far a finding changes what the results may be used for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Note,
    /// The results are easily misread.
    Warning,
    /// The results are not of what was to be measured.
    Wrong,
    /// One that only a newer version knows, in its word: it may be as bad as any.
    #[serde(untagged)]
    Other(String),
}

impl Severity {
    /// In a word.
    pub fn word(&self) -> &str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Wrong => "wrong",
            Severity::Other(word) => word,
        }
    }
}

/// The result of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule's id: `iosonde explain ID` prints it.
    pub id: Cow<'static, str>,
    /// How far it changes what the results may be used for: `note`, `warning` or `wrong`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub severity: Severity,
    /// Which jobs it is about; empty for all or none of them.
    #[serde(default)]
    pub jobs: Vec<String>,
    /// One sentence with its numbers, without a full stop.
    #[serde(default)]
    pub statement: String,
    /// What to do: an imperative, without a full stop.
    #[serde(default)]
    pub remedy: Cow<'static, str>,
}

/// Warnings and worse of several runs, each rule with how many runs it was found in; the worst
/// first, equals in the order of their ids.
#[derive(Debug, Default)]
pub struct FindingCounts(Vec<(Finding, u32)>);

impl FindingCounts {
    /// Add those of a run.
    pub fn add<'a>(&mut self, found: impl Iterator<Item = &'a Finding>) {
        for finding in found.filter(|finding| finding.severity > Severity::Note) {
            match self.0.iter_mut().find(|(known, _)| known.id == finding.id) {
                Some((_, runs)) => *runs += 1,
                None => self.0.push((finding.clone(), 1)),
            }
        }
        iosonde_base::sort_by(&mut self.0, |(one, _), (other, _)| {
            other.severity.cmp(&one.severity).then_with(|| one.id.cmp(&other.id))
        });
    }

    /// Each, with its number of runs.
    pub fn all(&self) -> &[(Finding, u32)] {
        &self.0
    }

    /// Whether the figures are not of what was to be measured.
    pub fn is_wrong(&self) -> bool {
        self.0.iter().any(|(finding, _)| finding.severity == Severity::Wrong)
    }
}

/// A finding with the section of the documentation on its rule.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct PagedFinding<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    /// The section of the documentation.
    page: String,
}

/// Findings as a ledger has them in documents.
pub(crate) fn with_pages<S: Serializer>(
    found: &[Finding],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let page = |finding: &Finding| format!("docs/verdict.md#{}", finding.id);
    serializer
        .collect_seq(found.iter().map(|finding| PagedFinding { finding, page: page(finding) }))
}

/// The value of a rule's function; [`judge`] adds the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// How bad.
    pub severity: Severity,
    /// Which jobs it is about; empty for all or none of them.
    pub jobs: Vec<String>,
    /// One sentence with its numbers, without a full stop.
    pub text: String,
}

impl Statement {
    /// One statement that is about no job in particular.
    pub fn one(severity: Severity, text: impl Into<String>) -> Vec<Statement> {
        vec![Statement { severity, jobs: Vec::new(), text: text.into() }]
    }
}

/// A rule over some facts: when it finds something, what that means, what to do.
#[derive(Debug)]
pub struct FindingRule<Facts: 'static> {
    /// Its name: kebab case, for `iosonde explain`.
    pub id: &'static str,
    /// The highest severity of its findings.
    pub severity: Severity,
    /// When it finds something: a fragment that fits after "Found when".
    pub condition: &'static str,
    /// What that means for the results: sentences.
    pub meaning: &'static str,
    /// What to do: an imperative, without a full stop.
    pub remedy: &'static str,
    /// What it finds; nothing where a fact that it needs is unknown.
    pub check: fn(&Facts) -> Vec<Statement>,
}

impl<Facts> FindingRule<Facts> {
    /// The rule as text. `found_by` names what applies it: `verdict of a run`.
    pub fn explain(&self, found_by: &str) -> String {
        format!(
            "{} ({found_by}, {} at most)\n\nFound when {}.\n\n{}\n\nWhat to do: {}.\n",
            self.id,
            self.severity.word(),
            self.condition,
            self.meaning,
            self.remedy
        )
    }
}

/// What `rules` find in `facts`, worst first; equals in the order of the rules.
pub fn judge<Facts: 'static>(rules: &[FindingRule<Facts>], facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in rules {
        findings.extend((rule.check)(facts).into_iter().map(|found| Finding {
            id: rule.id.into(),
            severity: found.severity,
            jobs: found.jobs,
            statement: found.text,
            remedy: rule.remedy.into(),
        }));
    }
    // A stable sort: rules keep their order among equals.
    iosonde_base::sort_by(&mut findings, |one, other| other.severity.cmp(&one.severity));
    findings
}

/// What is wrong with the texts of a rule, for tests: ids in kebab case,
/// fragments without and sentences with a full stop.
pub fn faults<Facts: 'static>(rule: &FindingRule<Facts>) -> Vec<String> {
    let kebab = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let checks = [
        (rule.id.bytes().all(kebab) && !rule.id.is_empty(), "the id is not in kebab case"),
        (!rule.condition.ends_with('.'), "the condition ends in a full stop"),
        (rule.meaning.ends_with('.'), "the meaning has no full stop"),
        (!rule.remedy.ends_with('.'), "the remedy ends in a full stop"),
    ];
    let failed = checks.into_iter().filter(|(holds, _)| !holds);
    failed.map(|(_, fault)| format!("{}: {fault}", rule.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rule(id: &'static str, check: fn(&u32) -> Vec<Statement>) -> FindingRule<u32> {
        FindingRule {
            id,
            severity: Severity::Wrong,
            condition: "a number is large",
            meaning: "It is large.",
            remedy: "use a smaller one",
            check,
        }
    }

    static RULES: [FindingRule<u32>; 3] = [
        rule("over-one", |n| found(*n > 1, Severity::Note)),
        rule("over-two", |n| found(*n > 2, Severity::Wrong)),
        rule("over-three", |n| found(*n > 3, Severity::Note)),
    ];

    fn found(is: bool, severity: Severity) -> Vec<Statement> {
        if is { Statement::one(severity, "it is") } else { Vec::new() }
    }

    #[test]
    fn the_worst_comes_first_and_equals_keep_their_order() {
        let ids = |n| judge(&RULES, &n).into_iter().map(|finding| finding.id).collect::<Vec<_>>();
        assert_eq!(ids(1), [""; 0]);
        assert_eq!(ids(9), ["over-two", "over-one", "over-three"]);
    }

    #[test]
    fn faulty_texts_are_named() {
        assert_eq!(faults(&RULES[0]), [""; 0]);
        let faulty =
            FindingRule { id: "Not_Kebab", meaning: "no stop", ..rule("", |_| Vec::new()) };
        assert_eq!(faults(&faulty).len(), 2);
        assert!(RULES[0].explain("a test").contains("over-one (a test, wrong at most)"));
    }
}
