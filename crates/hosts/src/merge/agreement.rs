//! What results have to agree in to be added up: build, jobs, number of ranks.

use iosonde_report::Report;

/// What the first result says of it.
#[derive(Debug)]
pub(super) struct FirstResult {
    pub name: String,
    pub version: String,
    /// The fingerprint's text, where there is one.
    pub job: String,
    pub ranks: Option<u32>,
    pub jobs: Vec<(String, u32)>,
}

/// Names and groups of the jobs.
pub(super) fn jobs(report: &Report) -> Vec<(String, u32)> {
    report.jobs.iter().map(|job| (job.name.clone(), job.group)).collect()
}

/// Refuse what must not be added up: a sentence that begins with "it".
pub(super) fn check(first: &FirstResult, own: &FirstResult) -> Result<(), String> {
    if first.version != own.version {
        return Err(format!(
            "it is of {}, and that of {} of {}: results of different builds are not added up",
            own.version, first.name, first.version
        ));
    }
    if first.jobs != own.jobs {
        return Err(format!(
            "it has the jobs {}, and that of {} has {}",
            list(&own.jobs),
            first.name,
            list(&first.jobs)
        ));
    }
    if !own.job.is_empty() && !first.job.is_empty() && own.job != first.job {
        let (here, there) = first_difference(&own.job, &first.job);
        return Err(format!("its job is another: {here}, and on {} {there}", first.name));
    }
    if first.ranks != own.ranks {
        let words = |ranks: Option<u32>| match ranks {
            Some(ranks) => format!("a run of {ranks} ranks"),
            None => "a run without ranks".to_owned(),
        };
        return Err(format!(
            "it is of {}, and that of {} of {}",
            words(own.ranks),
            first.name,
            words(first.ranks)
        ));
    }
    Ok(())
}

fn list(jobs: &[(String, u32)]) -> String {
    jobs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The first option of two job texts that differs.
pub fn first_difference<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str) {
    let split = |text: &'a str| text.split(" | ").flat_map(|job| job.split("; "));
    let (mut ours, mut theirs) = (split(one), split(other));
    loop {
        match (ours.next(), theirs.next()) {
            (Some(own), Some(their)) if own == their => {}
            (None, None) => return (one, other),
            (own, their) => {
                return (own.unwrap_or("nothing more"), their.unwrap_or("nothing more"));
            }
        }
    }
}
