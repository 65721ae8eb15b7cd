//! Names of jobs: those of one section, and sections of one name, told apart by a number.

use super::Report;
use std::collections::BTreeMap;

impl Report {
    /// The name of each entry of `jobs`: `readers.0`, `readers.1` where several have one name.
    pub fn job_names(&self) -> Vec<String> {
        let mut all: BTreeMap<&str, usize> = BTreeMap::new();
        for job in &self.jobs {
            *all.entry(&job.name).or_default() += 1;
        }
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let named = self.jobs.iter().map(|job| {
            let number = seen.entry(&job.name).or_default();
            *number += 1;
            if all[job.name.as_str()] > 1 {
                format!("{}.{}", job.name, *number - 1)
            } else {
                job.name.clone()
            }
        });
        named.collect()
    }
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
