//! `iosonde --help` and `iosonde help [COMMAND]`.

use super::root::SUMMARY;
use clap::Args;
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, Commands, parse};
use iosonde_session::Personality;
use iosonde_spec::cli::flag_table;
use iosonde_sys::standard_output::print;
use std::fmt::Write;

/// The command line of `iosonde help`.
#[derive(Args, Clone, Debug)]
pub struct HelpArgs {
    /// A command; help on iosonde itself without one
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Print help; the exit code.
///
/// # Errors
/// The name, if there is no such command.
pub fn run(command: &CommandEntry, commands: Commands, words: &[String]) -> Result<u8, String> {
    let name = match parse::<HelpArgs>(command, words) {
        Ok(arguments) => arguments.command,
        Err(code) => return Ok(code),
    };
    match name {
        None => print(&overview(Personality::Native, commands)),
        Some(name) => match commands.iter().find(|command| command.name == name) {
            Some(command) => print(&command.help()),
            None => return Err(name),
        },
    }
    Ok(exit::OK)
}

/// The page of `--help`.
pub fn overview(personality: Personality, commands: Commands) -> String {
    let version = personality.version();
    let (mut text, ours) = match personality {
        Personality::Fio => {
            (format!("{version}\nfio [options] [job options] <job file(s)>\n"), &[][..])
        }
        Personality::Native => (native(version, commands), flag_table::OURS),
    };
    for flag in flag_table::merged(&[flag_table::FIO, ours, flag_table::LEDGER]) {
        if flag.shown != flag_table::Shown::InHelp || flag.unsupported().is_some() {
            continue;
        }
        let words = match flag.value {
            "" => format!("--{}", flag.name),
            value => format!("--{}={value}", flag.name),
        };
        let _ = writeln!(text, "  {words:<28} {}", flag.doc);
    }
    if personality == Personality::Native {
        text.push_str(
            "\nJob options are fio's: --cmdhelp lists them, --cmdhelp=OPTION describes one.\n",
        );
    }
    text
}

fn native(version: &str, commands: Commands) -> String {
    let mut text = format!(
        "{version}: {SUMMARY}\n\n\
         Usage: iosonde [FLAGS] [JOB OPTIONS] [JOBFILE]...   run jobs\n       \
         iosonde COMMAND [ARGUMENTS]                  see iosonde help COMMAND\n       \
         iosonde                                      run a short safe job here\n\n\
         Commands:\n"
    );
    for command in commands {
        let _ = writeln!(text, "  {:<12} {}", command.name, command.summary);
    }
    text.push_str("\nFlags:\n");
    text
}
