//! Jobs that a command runs for a report of its own, checked before the first run.

use crate::personality::Personality;
use crate::prepare::{PrepareError, parse, prepare_parsed};
use iosonde_spec::cli::Parsed;
use iosonde_spec::cli::flags::Flags;

/// A command line of jobs, parsed.
///
/// # Errors
/// The reasons, a line each.
pub fn checked(words: &[String]) -> Result<Parsed, Vec<String>> {
    let parsed = parse(Personality::Native, words);
    if let Some(flag) = flag_without_effect(&parsed.flags) {
        return Err(vec![format!(
            "iosonde: {flag} has no effect here: results are kept as JSON, and --format chooses the \
             report"
        )]);
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
    let refused = |error: PrepareError| error.reasons;
    prepare_parsed(Personality::Native, parsed.clone()).map(drop).map_err(refused)
}

/// Flags of a run that ask for another report, or for no run.
pub fn flag_without_effect(flags: &Flags) -> Option<&'static str> {
    let asked = [
        (flags.info.is_some(), "an information flag (--help, --version, --cmdhelp, --enghelp)"),
        (flags.showcmd, "--showcmd"),
        (flags.parse_only, "--parse-only"),
        (flags.merge_only, "--merge-blktrace-only"),
        (flags.output.is_some(), "--output"),
        (flags.formats_given, "--output-format"),
        (flags.append_terse, "--append-terse"),
        (flags.status_interval_ms.is_some(), "--status-interval"),
        (flags.bandwidth_log.is_some(), "--bandwidth-log"),
        (flags.trigger.fires(), "--trigger-file, --trigger-timeout"),
        (flags.idle_prof.is_some(), "--idle-prof"),
        (!flags.debug.is_empty(), "--debug"),
        (flags.strict, "--strict"),
        (flags.ledger.is_some(), "--ledger"),
    ];
    asked.into_iter().find_map(|(is_asked, name)| is_asked.then_some(name))
}
