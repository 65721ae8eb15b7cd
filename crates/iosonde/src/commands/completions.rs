//! `iosonde completions SHELL`: a completion script, made from the tables of
//! commands and options.

use super::root;
use clap::{Args, ValueEnum};
use clap_complete::{Shell, generate};
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, Commands, parse};
use iosonde_sys::standard_output;

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Covers commands, flags, job options and the values of options that have a fixed
set. To install:
  bash   add to ~/.bashrc: source <(iosonde completions bash)
  zsh    iosonde completions zsh > ~/.zfunc/_iosonde, with ~/.zfunc in fpath
  fish   iosonde completions fish > ~/.config/fish/completions/iosonde.fish";

/// A shell by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShellName {
    /// GNU Bash, 4 or later
    Bash,
    /// The Z shell
    Zsh,
    /// The friendly interactive shell
    Fish,
}

/// The command line of `iosonde completions`.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: ShellName,
}

/// Print the script.
pub fn run(command: &CommandEntry, commands: Commands, words: &[String]) -> u8 {
    let shell = match parse::<CompletionsArgs>(command, words) {
        Ok(arguments) => arguments.shell,
        Err(code) => return code,
    };
    standard_output::print(&script(commands, shell));
    exit::OK
}

/// The script for a shell.
pub fn script(commands: Commands, shell: ShellName) -> String {
    let generator = match shell {
        ShellName::Bash => Shell::Bash,
        ShellName::Zsh => Shell::Zsh,
        ShellName::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(generator, &mut root::definition(commands), "iosonde", &mut script);
    let mut script = String::from_utf8(script).expect("names and texts of the tables are UTF-8");
    if shell == ShellName::Bash {
        script.push_str(AFTER_EQUALS);
    }
    script
}

/// Bash splits `--rw=read` at the `=`, and the generated function looks for
/// `--rw` right before the value only.
const AFTER_EQUALS: &str = r#"
_iosonde_after_equals() {
    local option="$3" value="$2"
    if [[ "$2" == "=" ]]; then
        value=""
    elif [[ "$3" == "=" ]]; then
        option="${COMP_WORDS[COMP_CWORD-2]}"
    fi
    _iosonde "$1" "$value" "$option"
}
complete -F _iosonde_after_equals -o bashdefault -o default iosonde
"#;
