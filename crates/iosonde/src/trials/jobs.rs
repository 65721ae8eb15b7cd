//! The jobs that are run again and again, checked before the first run.

use crate::personality::Personality;
use crate::prepare::{PrepareError, parse, prepare_parsed};
use crate::trials::words::flag_without_effect;
use iosonde_spec::cli::Parsed;

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
