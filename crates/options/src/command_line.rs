//! Command lines of our own commands: clap parses, and this words what is wrong.
//!
//! The fio language has its own parser; this is not for it.

use crate::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};
pub use iosonde_base::text::size;
use std::error::Error;

/// Why a command does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Help was requested: the page to print.
    Help(String),
    /// The arguments are wrong: the reason, one line without a full stop.
    Refused(String),
}

/// The arguments of `command` in `words`, which do not have the command's own name.
///
/// # Errors
/// Help was requested, or the first argument that is wrong.
pub fn matches(command: Command, words: &[String]) -> Result<ArgMatches, Exit> {
    let mut command = command.no_binary_name(true);
    command.try_get_matches_from_mut(words).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Exit::Help(error.to_string()),
        _ => Exit::Refused(reason(&error, &command)),
    })
}

/// What is wrong, in one line: the option, the bad value, the accepted values.
fn reason(error: &clap::Error, command: &Command) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let list = |kind| match error.get(kind) {
        Some(ContextValue::Strings(list)) => list.as_slice(),
        _ => &[],
    };
    let argument = text(ContextKind::InvalidArg);
    // "--bs <SIZES>" is named as it is typed.
    let option = if argument.starts_with('-') {
        argument.split([' ', '=', '[']).next().unwrap_or(argument)
    } else {
        argument
    };
    let help = command.get_bin_name().unwrap_or(command.get_name());
    match error.kind() {
        ErrorKind::UnknownArgument if !argument.starts_with('-') => {
            format!("unexpected argument {argument:?}: see {help} --help")
        }
        ErrorKind::UnknownArgument => {
            let names = command.get_arguments().filter_map(|argument| argument.get_long());
            match nearest(option.trim_start_matches('-'), names) {
                Some(near) => format!("unknown option {option}: did you mean --{near}?"),
                None => format!("unknown option {option}: see {help} --help"),
            }
        }
        ErrorKind::ValueValidation => match error.source() {
            Some(source) => format!("{option}: {source}"),
            None => first_line(error),
        },
        ErrorKind::InvalidValue if text(ContextKind::InvalidValue).is_empty() => {
            format!("{option} needs a value")
        }
        ErrorKind::InvalidValue => {
            let (value, accepted) =
                (text(ContextKind::InvalidValue), list(ContextKind::ValidValue));
            format!("{option}: unknown value {value:?}: use {}", accepted.join(", "))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = list(ContextKind::InvalidArg).join(" ");
            format!("the required argument {missing} is missing: see {help} --help")
        }
        ErrorKind::TooManyValues => format!("{option} takes no value"),
        _ => first_line(error),
    }
}

/// What clap says, without its prefix and the usage below.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, ArgAction};

    fn command() -> Command {
        let even = |text: &str| match text.parse::<u32>() {
            Ok(number) if number % 2 == 0 => Ok(number),
            _ => Err(format!("invalid number {text:?}: use an even one")),
        };
        Command::new("halve")
            .bin_name("iosonde halve")
            .arg(Arg::new("path").value_name("PATH").required(true))
            .arg(Arg::new("parts").long("parts").value_name("N").value_parser(even))
            .arg(Arg::new("unit").long("unit").value_parser(["k", "m"]))
            .arg(Arg::new("quick").long("quick").action(ArgAction::SetTrue))
    }

    fn refusal(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match matches(command(), &words) {
            Err(Exit::Refused(reason)) => reason,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_refusal_names_the_option_the_value_and_what_is_accepted() {
        assert_eq!(refusal("--parts=3 a"), "--parts: invalid number \"3\": use an even one");
        assert_eq!(refusal("a --parst=4"), "unknown option --parst: did you mean --parts?");
        assert_eq!(refusal("a --nothing"), "unknown option --nothing: see iosonde halve --help");
        assert_eq!(refusal("a -q"), "unknown option -q: see iosonde halve --help");
        assert_eq!(refusal("a b"), "unexpected argument \"b\": see iosonde halve --help");
        assert_eq!(refusal("a --parts"), "--parts needs a value");
        assert_eq!(refusal("a --quick=1"), "--quick takes no value");
        assert_eq!(
            refusal("--quick"),
            "the required argument <PATH> is missing: see iosonde halve --help"
        );
        assert_eq!(refusal("a --unit=x"), "--unit: unknown value \"x\": use k, m");
    }

    #[test]
    fn help_is_no_refusal() {
        for word in ["-h", "--help"] {
            let Err(Exit::Help(help)) = matches(command(), &[word.to_owned()]) else {
                panic!("{word}")
            };
            assert!(help.contains("iosonde halve"), "{help}");
        }
        assert!(matches(command(), &["a".to_owned()]).is_ok());
    }
}
