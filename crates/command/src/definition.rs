//! The definition of a command: an entry with all that dispatch, help, completions and
//! the man page need, and the parsing of its arguments.

use crate::{CommandAnswer, outputs};
use clap::{Arg, ArgAction, Args, Command};
use iosonde_options::command_line;
use iosonde_sys::terminal::columns;

/// One command.
pub struct CommandEntry {
    /// Its name: the first word of the command line.
    pub name: &'static str,
    /// What it does, for lists of commands: an imperative, no full stop.
    pub summary: &'static str,
    /// What `--help` says below the summary; empty where the arguments come
    /// with a description of their own.
    pub details: &'static str,
    /// The usage lines where clap's own would mislead.
    pub usage: Option<&'static str>,
    /// Adds its arguments to a clap command, or replaces it with its own.
    pub arguments: fn(Command) -> Command,
    /// Whether it takes fio's command line: options of jobs and job files.
    pub takes_jobs: bool,
    /// Runs it with the words after its name; the exit code.
    pub run: fn(&[String]) -> u8,
}

/// Commands in the order in which help lists them.
pub type Commands = &'static [&'static CommandEntry];

impl CommandEntry {
    /// As clap has it, without the options of jobs.
    pub fn definition(&self) -> Command {
        let mut command = Command::new(self.name)
            .bin_name(format!("iosonde {}", self.name))
            .display_name(format!("iosonde-{}", self.name))
            .about(self.summary)
            .long_about(self.details)
            .disable_help_flag(true)
            .disable_version_flag(true)
            .args_override_self(true)
            .arg(help_flag());
        if let Some(usage) = self.usage {
            command = command.override_usage(usage);
        }
        outputs::complete((self.arguments)(command))
            .display_name(format!("iosonde-{}", self.name))
            .about(self.summary)
            .term_width(columns())
    }

    /// What `--help` prints.
    pub fn help(&self) -> String {
        let command = self.definition();
        let details = match self.details {
            "" => command.get_long_about().map(ToString::to_string).unwrap_or_default(),
            details => details.to_owned(),
        };
        let about = format!("{}\n\n{}", capitalised(self.summary), flowing(&details));
        command.about(about.trim_end().to_owned()).render_help().to_string()
    }
}

/// `text` with a line for each paragraph, for others to break. A line that begins with a blank
/// stays as it is.
fn flowing(text: &str) -> String {
    let mut flowing = String::new();
    let mut before = "";
    for line in text.lines() {
        let joins = !before.is_empty() && !line.is_empty();
        flowing.push_str(match (joins, line.starts_with(' ') || before.starts_with(' ')) {
            (true, false) => " ",
            _ if flowing.is_empty() => "",
            _ => "\n",
        });
        flowing.push_str(line);
        before = line;
    }
    flowing
}

fn help_flag() -> Arg {
    let help = Arg::new("help").short('h').long("help");
    help.action(ArgAction::HelpShort).help("Print this help").display_order(1000)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Parse the words after a command's name.
///
/// # Errors
/// Help, or what is wrong.
pub fn arguments<A: Args>(command: &CommandEntry, words: &[String]) -> Result<A, CommandAnswer> {
    let refuse = |reason: &str| CommandAnswer::refused(command.name, reason);
    let definition = command.definition();
    let words = outputs::in_own_words(&definition, words);
    match command_line::matches(definition, &words) {
        Ok(matches) => {
            outputs::choose(&matches).map_err(|why| refuse(&why))?;
            A::from_arg_matches(&matches).map_err(|error| refuse(&error.to_string()))
        }
        Err(command_line::Exit::Help(_)) => Err(CommandAnswer::of(command.help())),
        Err(command_line::Exit::Refused(reason)) => Err(refuse(&reason)),
    }
}

/// The same for a command that prints as it goes.
///
/// # Errors
/// The exit code, once help or what is wrong has been printed.
pub fn parse<A: Args>(command: &CommandEntry, words: &[String]) -> Result<A, u8> {
    arguments(command, words).map_err(|answer| answer.print())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_flow_and_indented_lines_stay() {
        assert_eq!(flowing("a\nb\n\nc:\n  d\n  e\nf"), "a b\n\nc:\n  d\n  e\nf");
        assert_eq!(flowing(""), "");
    }
}
