//! Names of jobs: those of one section, and sections of one name, told apart by a number.

use super::Report;
use crate::ledger::Ledger;
use std::collections::BTreeMap;

impl Report {
    /// The name of each entry of `jobs`: `readers.0`, `readers.1` where several have one name.
    pub fn job_names(&self) -> Vec<String> {
        numbered(self.jobs.iter().map(|job| job.name.as_str()))
    }
}

impl Ledger {
    /// The name of each of its jobs, as [`Report::job_names`] has them.
    pub fn job_names(&self) -> Vec<String> {
        numbered(self.jobs.iter().map(|job| job.name.as_str()))
    }
}

/// Names that occur more than once, with a number from 0.
fn numbered<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut all: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names.clone() {
        *all.entry(name).or_default() += 1;
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let one = |name: &'a str| {
        let number = seen.entry(name).or_default();
        *number += 1;
        if all[name] > 1 { format!("{name}.{}", *number - 1) } else { name.to_owned() }
    };
    names.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobReport;

    #[test]
    fn jobs_of_one_name_have_numbers() {
        let job = |name: &str| JobReport { name: name.to_owned(), ..JobReport::default() };
        let jobs = vec![job("readers"), job("log"), job("readers")];
        let report = Report { jobs, ..Report::default() };
        assert_eq!(report.job_names(), ["readers.0", "log", "readers.1"]);
    }
}
