//! `iosonde man [COMMAND]`: a manual page in roff, made from the tables of
//! commands and options.

use super::root;
use clap::Args;
use clap_mangen::Man;
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, Commands, parse};
use iosonde_sys::standard_output;

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Prints roff. To read it: iosonde man | man -l -. To install:
  iosonde man > ~/.local/share/man/man1/iosonde.1
  iosonde man probe > ~/.local/share/man/man1/iosonde-probe.1";

/// The command line of `iosonde man`.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// A command; the page of iosonde itself without one
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Print the page; the exit code.
///
/// # Errors
/// The name, if there is no such command.
pub fn run(command: &CommandEntry, commands: Commands, words: &[String]) -> Result<u8, String> {
    let name = match parse::<ManArgs>(command, words) {
        Ok(arguments) => arguments.command,
        Err(code) => return Ok(code),
    };
    standard_output::print(&page(commands, name.as_deref()).ok_or(name.unwrap_or_default())?);
    Ok(exit::OK)
}

/// The page of a command, or of the program; `None` if there is no such command.
pub fn page(commands: Commands, name: Option<&str>) -> Option<String> {
    let definition = match name {
        Some(name) => commands.iter().find(|command| command.name == name)?.definition(),
        None => root::definition(commands),
    };
    let mut page = Vec::new();
    Man::new(definition).render(&mut page).expect("writing to memory does not fail");
    Some(String::from_utf8(page).expect("names and texts of the tables are UTF-8"))
}
