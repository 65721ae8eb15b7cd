//! `--debug`: log lines in fio's format, `%-8s %-5u text`.

use iosonde_run::job::{JobPlan, Plan};
use iosonde_session::Personality;
use iosonde_spec::TypedOption;
use iosonde_spec::cli::flags::{DebugWord, RunFlags};
use iosonde_spec::cli::{Parsed, ParsedJob};
use iosonde_spec::values::{Criterion, Limit, SteadyGoal};
use std::fmt::Write;

/// How many streams of random numbers a job has, as fio counts them.
const STREAMS: usize = 24;

/// Whether this is logged, for the job of this number.
pub fn is_on(flags: &RunFlags, debug: DebugWord, job: Option<u32>) -> bool {
    let of_job = match (flags.debug_job, job) {
        (Some(only), Some(job)) => only == job,
        _ => true,
    };
    flags.debug.contains(&debug) && of_job
}

/// The words of `--debug`, as `--debug=?` prints them.
pub fn words(personality: Personality) -> String {
    let mut names: Vec<&str> = DebugWord::WORDS.iter().map(|(name, _)| *name).collect();
    // The word that takes a number stands where fio has it.
    let at = names.iter().position(|name| *name == "mutex").unwrap_or(names.len());
    names.insert(at, "job");
    format!("{}: dumping debug options:{},all\n", personality.program(), names.join(","))
}

/// What fio says of the words that are on; nothing in our own name.
pub fn set_words(personality: Personality, flags: &RunFlags) -> String {
    if personality == Personality::Native {
        return String::new();
    }
    let line = |debug: &DebugWord| format!("fio: set debug option {}\n", debug.word());
    flags.debug.iter().map(line).collect()
}

/// A line about `debug`, of the process or thread `id`.
pub fn line(debug: DebugWord, id: u32, text: &str) -> String {
    format!("{:<8} {id:<5} {text}", debug.word())
}

/// Each option of each job: the text and the parsed value. Without a job, the
/// options that stand alone on the command line.
pub fn parse(parsed: &Parsed) -> String {
    let mut text = String::new();
    if !is_on(&parsed.flags.run, DebugWord::Parse, None) {
        return text;
    }
    let id = std::process::id();
    for job in &parsed.jobs {
        let _ = writeln!(text, "{}", line(DebugWord::Parse, id, &format!("job {}", job.name)));
        options(&mut text, id, job);
    }
    if parsed.jobs.is_empty() {
        options(&mut text, id, &parsed.defaults);
    }
    text
}

fn options(text: &mut String, id: u32, job: &ParsedJob) {
    for option in job.globals.iter().chain(&job.typed) {
        let value = option.value.as_deref().unwrap_or("(null)");
        let line_text = format!("handle_option={}, ptr={value}", option.name);
        let _ = writeln!(text, "{}", line(DebugWord::Parse, id, &line_text));
        let _ = writeln!(text, "{}", line(DebugWord::Parse, id, &parsed_value(job, option)));
    }
}

/// The parsed value of an option: for `steadystate` in fio's own words.
fn parsed_value(job: &ParsedJob, option: &TypedOption) -> String {
    match job.spec.steady.steadystate.get() {
        Some(goal) if option.name == "steadystate" => steady_threshold(goal),
        _ => format!("  ret=0, out={}", job.spec.show(option.name).unwrap_or_default()),
    }
}

fn steady_threshold(goal: &SteadyGoal) -> String {
    match (goal.limit, goal.criterion) {
        (Limit::Percent(share), _) => format!("set steady state threshold to {share:.6}%"),
        (Limit::Absolute(limit), Criterion::Iops | Criterion::IopsSlope) => {
            format!("set steady state IOPS threshold to {limit:.6}")
        }
        (Limit::Absolute(limit), Criterion::Bw | Criterion::BwSlope) => {
            format!("set steady state BW threshold to {limit:.0}")
        }
        (Limit::Absolute(limit), Criterion::Lat | Criterion::LatSlope) => {
            format!("set steady state latency threshold to {limit:.0} nsec")
        }
    }
}

/// The seeds of each job, and its files.
pub fn plan(flags: &RunFlags, plan: &Plan) -> String {
    let mut text = String::new();
    let id = std::process::id();
    for job in &plan.jobs {
        if is_on(flags, DebugWord::Random, Some(job.number)) {
            random(&mut text, id, job);
        }
        if is_on(flags, DebugWord::File, Some(job.number)) {
            for file in &job.files {
                let end = file.range_end();
                let line_text = format!("add file {}: {}..{end}", file.path_or_name(), file.offset);
                let _ = writeln!(text, "{}", line(DebugWord::File, id, &line_text));
            }
        }
    }
    text
}

fn random(text: &mut String, id: u32, job: &JobPlan) {
    let line_text = format!("FIO_RAND_NR_OFFS={STREAMS}");
    let _ = writeln!(text, "{}", line(DebugWord::Random, id, &line_text));
    let seeds = iosonde_workload::seeds(job.source.randseed, job.number);
    for (index, seed) in seeds.iter().enumerate() {
        let line_text = format!("rand_seeds[{index}]={seed}");
        let _ = writeln!(text, "{}", line(DebugWord::Random, id, &line_text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_word_and_the_process_in_columns() {
        assert_eq!(line(DebugWord::Io, 7, "queue"), "io       7     queue");
    }

    #[test]
    fn one_job_alone_can_be_logged() {
        let (debug, debug_job) = (vec![DebugWord::Io], Some(2));
        let flags = RunFlags { debug, debug_job, ..RunFlags::default() };
        assert!(is_on(&flags, DebugWord::Io, Some(2)));
        assert!(!is_on(&flags, DebugWord::Io, Some(1)));
        assert!(!is_on(&flags, DebugWord::File, Some(2)));
    }
}
