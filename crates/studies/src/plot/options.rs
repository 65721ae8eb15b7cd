//! The options of a job in a result, by any of their names.

use super::arguments::PlotQuestion;
use super::inputs::ReadResult;
use iosonde_options::command_line::size;
use iosonde_report::JobReport;
use std::cmp::Ordering;

/// What stands for an option that a job does not have.
pub const NOT_SET: &str = "not set";

/// The value of an option of a job: of its section, else of `[global]`, else as
/// iosonde resolved it. Besides options: `jobname`, `file`, `version`.
pub fn value(result: &ReadResult, job: usize, name: &str) -> String {
    let report = &result.stored.report;
    let entry: &JobReport = &report.jobs[job];
    match name {
        "jobname" => return entry.name.clone(),
        "file" => return result.name.clone(),
        "version" => return result.stored.source.version().to_owned(),
        _ => {}
    }
    let wanted = canonical(name);
    let of = |options: &[(String, String)]| {
        let found = options.iter().rev().find(|(known, _)| canonical(known) == wanted);
        found.map(|(_, value)| value.clone())
    };
    let set = || {
        let settings = report.ours.settings.as_ref()?;
        let section = settings.jobs.get(job)?;
        let option = section.options.iter().find(|option| canonical(&option.name) == wanted)?;
        Some(option.value.clone())
    };
    of(&entry.options)
        .or_else(|| of(report.global_options.as_deref()?))
        .or_else(set)
        .unwrap_or_else(|| NOT_SET.to_owned())
}

/// Whether results may be asked for the options that a question names.
///
/// # Errors
/// There is no such option: a sentence with the one that was meant.
pub fn check(question: &PlotQuestion) -> Result<(), String> {
    let named = [("--x", Some(&question.x)), ("--by", question.by.as_ref())];
    let named = named.into_iter().filter_map(|(argument, name)| Some((argument, name?)));
    let filters = question.filter.iter().map(|(name, _)| ("--filter", name));
    named.chain(filters).try_for_each(|(argument, name)| known(argument, name))
}

fn known(argument: &str, name: &str) -> Result<(), String> {
    if matches!(name, "jobname" | "file" | "version") || iosonde_spec::lookup(name).is_some() {
        return Ok(());
    }
    let meant = match iosonde_spec::nearest_option(name) {
        Some(near) => format!("did you mean {near}?"),
        None => "use an option of jobs, jobname, file or version".to_owned(),
    };
    Err(format!("{argument}: unknown option {name:?}: {meant}"))
}

/// The first of an option's names.
fn canonical(name: &str) -> &str {
    iosonde_spec::lookup(name).map_or(name, |option| option.name)
}

/// Whether two values are the same: `4k` and `4096` are.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || size(one).is_ok_and(|bytes| size(other) == Ok(bytes))
}

/// The order of values: numbers and sizes by their size, before texts.
pub fn order(one: &str, other: &str) -> Ordering {
    match (size(one), size(other)) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => one.cmp(other),
    }
}
