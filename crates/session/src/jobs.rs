//! Jobs of a command line for a command that runs them in its own way: many times, or for
//! another report than that of a run.

use crate::personality::Personality;
use crate::prepare::{job_files, parse_with, prepare_parsed};
use iosonde_spec::cli::Parsed;
use iosonde_spec::cli::flags::{FlagGroup, Flags};
use iosonde_spec::text::include::JobFiles;

/// A command line of jobs, parsed, whose results are kept as JSON. Flags that are not of the
/// jobs themselves are refused.
///
/// # Errors
/// The reasons, a line each.
pub fn checked(words: &[String]) -> Result<Parsed, Vec<String>> {
    checked_in(words, job_files(Personality::Native))
}

/// As [`checked`], with job files from elsewhere.
///
/// # Errors
/// As of [`checked`].
pub fn checked_in(words: &[String], files: &dyn JobFiles) -> Result<Parsed, Vec<String>> {
    let parsed = parse_with(Personality::Native, words, files);
    let report = "results are kept as JSON, and --format chooses the report";
    if let Some(why) = without_effect(&parsed.flags, report) {
        return Err(vec![format!("iosonde: {why}")]);
    }
    if parsed.is_refused() {
        // The parser's own words, with the line or the option.
        plan(&parsed)?;
    }
    if parsed.jobs.is_empty() {
        Err(vec!["iosonde: no job: name a job file, or give --name=... and options".into()])
    } else {
        Ok(parsed)
    }
}

/// Refuse jobs that cannot run.
///
/// # Errors
/// The reasons, a line each.
pub fn plan(parsed: &Parsed) -> Result<(), Vec<String>> {
    let prepared = prepare_parsed(Personality::Native, parsed.clone());
    prepared.map(drop).map_err(|refused| refused.reasons)
}

/// The first flag that was given and that only a run by itself honours, with the reason;
/// `report` says where the report of these jobs goes instead.
pub fn without_effect(flags: &Flags, report: &str) -> Option<String> {
    let flag = flags.beyond(&[FlagGroup::Jobs])?;
    let why = match flag.group {
        FlagGroup::Info => "it prints information and runs nothing",
        FlagGroup::Jobs | FlagGroup::Run => "it is for jobs that run by themselves",
        FlagGroup::Output => report,
        FlagGroup::Live => "only jobs that run by themselves are shown while they run",
        FlagGroup::Hosts => "the jobs run on this host",
    };
    Some(format!("--{} has no effect here: {why}", flag.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(more: &str) -> Result<Parsed, Vec<String>> {
        let words = format!("--name=a --ioengine=null --size=4k {more}");
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        checked(&words)
    }

    #[test]
    fn flags_of_the_jobs_are_taken() {
        for flags in ["--readonly", "--warnings-fatal", "--no-exec --erase=S-1", "--max-jobs=4"] {
            assert!(check(flags).is_ok(), "{flags}");
        }
    }

    #[test]
    fn a_flag_of_each_other_group_is_refused_by_its_name() {
        let refused = [
            ("--version", "--version has no effect here: it prints information"),
            ("--strict", "--strict has no effect here: it is for jobs that run by themselves"),
            ("--parse-only", "--parse-only has no effect here"),
            ("--debug=io", "--debug has no effect here"),
            ("--html=x.html", "--html has no effect here: results are kept as JSON"),
            ("--minimal", "--minimal has no effect here: results are kept as JSON"),
            ("--status-interval=1", "--status-interval has no effect here"),
            ("--metrics-file=m.prom", "--metrics-file has no effect here: only jobs that run by"),
            ("--metrics-listen=0", "--metrics-listen has no effect here"),
            ("--live=json", "--live has no effect here"),
            ("--eta=always", "--eta has no effect here"),
            ("--mpi", "--mpi has no effect here: the jobs run on this host"),
            ("--rank=1", "--rank has no effect here"),
            ("--start-at=+1s", "--start-at has no effect here"),
        ];
        for (flags, words) in refused {
            let reasons = check(flags).unwrap_err();
            assert!(reasons[0].starts_with(&format!("iosonde: {words}")), "{reasons:?}");
        }
    }

    #[test]
    fn a_line_without_a_job_is_refused() {
        assert!(checked(&[]).unwrap_err()[0].contains("no job"));
        assert!(check("--iodept=4").unwrap_err()[0].contains("iodepth"));
    }
}
