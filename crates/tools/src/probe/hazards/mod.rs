//! Hazards for a test at a path: each one a rule over its survey.

mod device;
mod file;
mod machine;
mod mount;
mod storage;

use super::survey::PathSurvey;
use iosonde_report::finding::{Finding, FindingRule, judge};

/// All rules: of the storage, the file, the mount, its devices, the machine.
pub fn rules() -> impl Iterator<Item = &'static FindingRule<PathSurvey>> {
    GROUPS.into_iter().flatten()
}

static GROUPS: [&[FindingRule<PathSurvey>]; 5] =
    [storage::RULES, file::RULES, mount::RULES, device::RULES, machine::RULES];

/// All hazards, worst first.
pub fn all(survey: &PathSurvey) -> Vec<Finding> {
    let mut all: Vec<Finding> = GROUPS.into_iter().flat_map(|rules| judge(rules, survey)).collect();
    // A stable sort: equals keep the order of their groups.
    iosonde_base::sort_by(&mut all, |one, other| other.severity.cmp(&one.severity));
    all
}

/// Whether files here are in memory and nowhere else.
pub fn is_memory(survey: &PathSurvey) -> bool {
    let kind = survey.facts.mount().map(|mount| mount.filesystem.as_str());
    matches!(kind, Some("tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_hazard_has_an_id_of_its_own_and_texts_that_fit_the_printer() {
        let ids: BTreeSet<&str> = rules().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), rules().count());
        for rule in rules() {
            assert_eq!(iosonde_report::finding::faults(rule), [""; 0]);
        }
    }
}
