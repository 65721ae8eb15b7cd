//! What failed in a run: blocks that are not what was written, jobs, data that was lost.

use super::ending::{FailedPart, RunEnding};
use crate::report::{OurJob, Report, VerifyReport};
use iosonde_base::text::{counted, shell_command};

/// Parts that are named; of more, how many.
const NAMED_MOST: usize = 3;
/// Characters of a command line in the sentence.
const COMMAND_MOST: usize = 200;

/// What failed, if anything did: a fragment without a full stop.
pub(super) fn words(report: &Report, ending: &RunEnding) -> Option<String> {
    let mut parts = Vec::new();
    let wrong = wrong_blocks(report);
    parts.extend(wrong.as_ref().map(|(words, _)| words.clone()));
    // That a job ended at a wrong block stands in the sentence by now.
    let is_known = |part: &&FailedPart| {
        wrong.as_ref().is_some_and(|(_, jobs)| jobs.contains(&part.name.as_str()))
            && part.why.contains(crate::report::WRONG_DATA)
    };
    let failed: Vec<&FailedPart> = ending.failed.iter().filter(|part| !is_known(part)).collect();
    parts.extend(several(&failed, ending));
    if !ending.not_started.is_empty() {
        let names = listed(&ending.not_started);
        parts.push(format!("{} never started: {names}", ending.of_all(ending.not_started.len())));
    }
    for lost in ending.not_written_back.iter().take(NAMED_MOST) {
        parts.push(format!("what job {} wrote was not written back: {}", lost.name, lost.why));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Errors that were tolerated, if there are any.
pub(super) fn tolerated(report: &Report) -> Option<String> {
    let errors = report.jobs.iter().filter_map(|job| job.errors);
    let total: u64 = errors.map(|errors| errors.total).sum();
    let tried: u64 = report.jobs.iter().map(|job| job.issued_ios()).sum();
    (total > 0).then(|| format!("{total} of {} failed and were tolerated", counted(tried, "I/O")))
}

/// Jobs that failed, or hosts.
fn several(failed: &[&FailedPart], ending: &RunEnding) -> Option<String> {
    let one = |part: &&FailedPart| match part.name.as_str() {
        "" => part.why.clone(),
        name => format!("{name}: {}", part.why),
    };
    let named: Vec<String> = failed.iter().take(NAMED_MOST).map(one).collect();
    match failed {
        [] => None,
        [part] if ending.jobs <= 1 => Some(format!("job {}", one(part))),
        _ => {
            let more = match failed.len().saturating_sub(NAMED_MOST) {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            Some(format!("{}: {}{more}", ending.of_all(failed.len()), named.join("; ")))
        }
    }
}

fn listed(names: &[String]) -> String {
    let named = names[..names.len().min(NAMED_MOST)].join(", ");
    match names.len().saturating_sub(NAMED_MOST) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// How many blocks are not what was written, where the first is, how to see it; and the
/// jobs that have such blocks.
fn wrong_blocks(report: &Report) -> Option<(String, Vec<&str>)> {
    let checked = |job: &'_ OurJob| job.verify.clone().filter(|verify| verify.counts.wrong > 0);
    let jobs: Vec<&OurJob> = report.ours.jobs.iter().filter(|job| checked(job).is_some()).collect();
    let first = jobs.first()?;
    let mut all = VerifyReport::default();
    for verify in report.ours.jobs.iter().filter_map(|job| job.verify.as_ref()) {
        all.merge(verify);
    }
    let verb = if all.counts.wrong == 1 { "is" } else { "are" };
    let blocks = counted(all.counts.checked.max(all.counts.wrong), "block");
    let mut words = format!("{} of {blocks} {verb} not what was written", all.counts.wrong);
    let place = checked(first).and_then(|verify| verify.wrong_blocks.first);
    if let Some(place) = place {
        let which = if all.counts.wrong == 1 { "" } else { "first: " };
        let command = diagnose(report, &place.file, place.offset);
        let (name, file, offset) = (&first.name, &place.file, place.offset);
        words.push_str(&format!(" ({which}job {name}, {file} at offset {offset}; {command})"));
    }
    Some((words, jobs.iter().map(|job| job.name.as_str()).collect()))
}

/// The command that shows more about a wrong block: with the job, where its command line is
/// known and short.
pub fn diagnose(report: &Report, file: &str, offset: u64) -> String {
    let plain: Vec<String> =
        ["iosonde", "diagnose", file, "--offset", &offset.to_string()].map(String::from).into();
    let argv = report.ours.settings.as_ref().map_or(&[][..], |settings| settings.argv.as_slice());
    let job = argv.iter().skip(1).filter(|word| !is_of_output(word)).cloned();
    let with_job = shell_command(plain.iter().cloned().chain(job));
    if argv.len() > 1 && with_job.len() <= COMMAND_MOST { with_job } else { shell_command(&plain) }
}

/// Options that say where a report goes, and nothing of the job.
fn is_of_output(word: &str) -> bool {
    const PREFIXES: [&str; 6] = ["--output", "--html", "--json", "--format", "--live", "--verbose"];
    PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}
