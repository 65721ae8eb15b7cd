//! `iosonde completions SHELL`: a completion script, made from the tables of
//! commands and options.

use super::root;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use clap_complete::{Shell, generate};
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, Commands, parse};
use iosonde_studies::like;
use iosonde_sys::standard_output;

/// What `--help` says below the summary.
pub const DETAILS: &str = "\
Covers commands, flags, job options, and the values of options that have a fixed
set: workloads, findings, formats. To install:
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
    let mut definition = root::definition(commands);
    for Operand { command, id, words } in operands(commands) {
        if commands.iter().any(|one| one.name == command) {
            definition = definition.mut_subcommand(command, |definition| {
                definition
                    .mut_arg(id, |operand| operand.value_parser(PossibleValuesParser::new(words)))
            });
        }
    }
    let mut script = Vec::new();
    generate(generator, &mut definition, "iosonde", &mut script);
    let mut script = String::from_utf8(script).expect("names and texts of the tables are UTF-8");
    match shell {
        ShellName::Bash => script.push_str(AFTER_EQUALS),
        ShellName::Fish => operands(commands).iter().for_each(|one| script += &one.fish()),
        ShellName::Zsh => script = with_job_files(&script, commands),
    }
    script
}

/// An argument of a command that is one of some words.
struct Operand {
    command: &'static str,
    id: &'static str,
    words: Vec<&'static str>,
}

fn operands(commands: Commands) -> [Operand; 6] {
    let names: Vec<&str> = commands.iter().map(|command| command.name).collect();
    let mut findings: Vec<&str> = crate::rules::ids().collect();
    iosonde_base::sort(&mut findings);
    findings.dedup();
    let matrix = vec!["table", "lines", "json", "csv", "svg", "html"];
    [
        Operand { command: "like", id: "name", words: like::names().collect() },
        Operand { command: "explain", id: "JOBFILE", words: findings },
        Operand { command: "help", id: "command", words: names.clone() },
        Operand { command: "man", id: "command", words: names },
        Operand { command: "matrix", id: "format", words: matrix },
        Operand { command: "meta", id: "format", words: vec!["table", "json", "csv"] },
    ]
}

impl Operand {
    /// The generator for fish knows options only.
    fn fish(&self) -> String {
        let words = self.words.join(" ");
        let when = format!("-n '__fish_seen_subcommand_from {}'", self.command);
        match (self.id, self.command) {
            ("format", _) => String::new(),
            (_, "explain") => format!("complete -c iosonde {when} -a '{words}'\n"),
            _ => format!("complete -c iosonde {when} -f -a '{words}'\n"),
        }
    }
}

/// What is explained is a finding or a job file; the generator for zsh knows words or files.
fn with_job_files(script: &str, commands: Commands) -> String {
    let all = operands(commands);
    let findings = all.iter().find(|one| one.command == "explain").expect("it is listed above");
    let words = findings.words.join(" ");
    let both = format!(
        "_iosonde_explained() {{\n    _alternative \"findings:finding:({words})\" \
         'files:job file:_files'\n}}\n\n"
    );
    let script = script.replace(&format!(":({words})'"), ":_iosonde_explained'");
    // Before the last lines, which may call the function that completes.
    script.replacen("if [ \"$funcstack[1]\"", &format!("{both}if [ \"$funcstack[1]\""), 1)
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
