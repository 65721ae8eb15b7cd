//! A command line that mixes a command's own flags with job files and options
//! of jobs.

use crate::commands::definition::{self, CommandEntry};
use crate::exit;
use crate::output::print_error;
use clap::{Arg, ArgAction, Args};
use iosonde_spec::cli::flags::Flags;
use std::time::Duration;

/// The parts of a command line.
pub struct MixedWords<A> {
    /// The command's own flags.
    pub own: A,
    /// Everything else, in order: job files, options of jobs, `--`.
    pub rest: Vec<String>,
}

/// Part a command line: flags that the command defines, whatever stands
/// before or after them, and the rest.
///
/// # Errors
/// The exit code, once help or what is wrong has been printed.
pub fn parse<A: Args>(entry: &CommandEntry, words: &[String]) -> Result<MixedWords<A>, u8> {
    let definition = entry.definition();
    let arguments: Vec<&Arg> = definition.get_arguments().collect();
    let (mut own, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(argument) = arguments.iter().find(|argument| is_named(argument, word)) else {
            rest.push(word.clone());
            continue;
        };
        own.push(word.clone());
        let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
        if takes_value && !word.contains('=') && !argument.is_require_equals_set() {
            own.extend(words.next().cloned());
        }
    }
    let own = definition::parse(entry, &own)?;
    Ok(MixedWords { own, rest })
}

/// Whether a word is this flag, with its value or without.
fn is_named(argument: &Arg, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if let Some(long) = name.strip_prefix("--") {
        return argument.get_long() == Some(long);
    }
    let short = argument.get_short().map(|short| format!("-{short}"));
    short.as_deref() == Some(name)
}

/// Print why a command does not run; the exit code.
pub fn refuse(command: &str, why: &str) -> u8 {
    print_error(&format!("iosonde: {command}: {why}"));
    exit::REFUSED
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

/// A time with a unit: `90s`, `30m`, `2h`; seconds without one.
pub fn time(text: &str) -> Result<Duration, String> {
    let wanted = || format!("invalid time {text:?}: use a number with s, m, h or d: 30m");
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(wanted()),
    };
    let number: f64 = digits.parse().map_err(|_| wanted())?;
    let span = number * seconds;
    if span.is_finite() && span > 0.0 {
        Duration::try_from_secs_f64(span).map_err(|_| wanted())
    } else {
        Err(wanted())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(time("90"), Ok(Duration::from_secs(90)));
        assert_eq!(time("1.5m"), Ok(Duration::from_secs(90)));
        for wrong in ["", "0", "-1s", "1w", "nan", "inf", "1e300h", "s"] {
            assert!(time(wrong).unwrap_err().contains("30m"), "{wrong}");
        }
    }
}
