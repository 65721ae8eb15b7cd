//! A command line that mixes a command's own flags with job files and options
//! of jobs.

use clap::{Arg, ArgAction, Args};
use iosonde_base::exit;
use iosonde_command::definition::{self, CommandEntry};
use iosonde_sys::standard_error::print_error;

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

/// Whether a word is this flag, by its name or another, with its value or without.
fn is_named(argument: &Arg, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    if let Some(long) = name.strip_prefix("--") {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        return argument.get_long() == Some(long) || aliases.contains(&long);
    }
    let short = argument.get_short().map(|short| format!("-{short}"));
    short.as_deref() == Some(name)
}

/// Print why a command does not run; the exit code.
pub fn refuse(command: &str, why: &str) -> u8 {
    print_error(&format!("iosonde: {command}: {why}"));
    exit::REFUSED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_has_all_of_its_names() {
        let rounds = Arg::new("rounds").long("rounds").visible_alias("repeats").short('r');
        for word in ["--rounds", "--rounds=2", "--repeats=2", "-r"] {
            assert!(is_named(&rounds, word), "{word}");
        }
        for word in ["--round=2", "--repeat", "rounds", "-R"] {
            assert!(!is_named(&rounds, word), "{word}");
        }
    }
}
