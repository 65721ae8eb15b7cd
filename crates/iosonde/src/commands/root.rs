//! The whole command line as clap has it, for completions and the man page.
//! Jobs are not parsed by it: fio's language has another parser.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command, ValueHint};
use iosonde_command::definition::{CommandEntry, Commands};
use iosonde_options::{OptionDef, ValueKind};
use iosonde_spec::cli::flag_table::{self, FIO, FlagDef, LEDGER, OURS, Shown};
use iosonde_spec::cli::getopt::TakesValue;
use iosonde_spec::engine_options;
use std::collections::HashSet;

/// What the program is, in a line.
pub const SUMMARY: &str = "storage I/O tester, a drop-in for fio";

/// The program with its flags, the options of jobs, and every command.
pub fn definition(commands: Commands) -> Command {
    let root = Command::new("iosonde")
        .version(env!("CARGO_PKG_VERSION"))
        .about(SUMMARY)
        .long_about(concat!(
            "Runs storage workloads described by fio's job files and command line, and reports ",
            "rates, latencies and where the bytes went. Without arguments it runs a short mixed ",
            "job on a temporary file in the current directory."
        ))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true);
    takes_jobs(root, OURS).subcommands(commands.iter().map(|command| complete(command)))
}

/// A command with everything that may be typed after it.
fn complete(command: &CommandEntry) -> Command {
    let definition = command.definition();
    if command.takes_jobs { takes_jobs(definition, &[]) } else { definition }
}

/// fio's flags, the options of jobs, and job files.
fn takes_jobs(command: Command, ours: &'static [FlagDef]) -> Command {
    let own: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    // What the command has already, such as `--help`, is not added again.
    let mut met: HashSet<String> = own.into_iter().map(str::to_owned).collect();
    let flags = flag_table::merged(&[FIO, ours, LEDGER]).into_iter();
    let flags = flags.filter(|flag| flag.shown == Shown::InHelp && flag.unsupported().is_none());
    let engines = engine_options::tables().iter().flat_map(|table| table.options);
    let jobs = iosonde_spec::all().chain(engines);
    let mut all: Vec<Arg> = Vec::new();
    for flag in flags {
        if met.insert(flag.name.to_owned()) {
            all.push(of_flag(flag));
        }
    }
    for option in jobs {
        if met.insert(option.name.to_owned()) {
            let aliases =
                option.aliases.iter().copied().filter(|alias| met.insert((*alias).to_owned()));
            all.push(of_option(option).visible_aliases(aliases.collect::<Vec<_>>()));
        }
    }
    let files = Arg::new("JOBFILE").num_args(0..).value_hint(ValueHint::FilePath);
    command.args(all).arg(files.help("Job files; their options are those above"))
}

fn of_flag(flag: &'static FlagDef) -> Arg {
    let argument = Arg::new(flag.name).long(flag.name).help(flag.doc).help_heading("Flags");
    let argument = match words_of(flag.name) {
        [] => argument,
        words => argument.value_parser(PossibleValuesParser::new(words.iter().copied())),
    };
    match flag.takes {
        TakesValue::Nothing => argument.action(ArgAction::SetTrue),
        TakesValue::Maybe | TakesValue::Name => {
            argument.value_name(flag.value).num_args(0..=1).require_equals(true)
        }
        TakesValue::Value => argument.value_name(flag.value),
    }
}

/// The words that a flag takes; of lists, one.
fn words_of(flag: &str) -> &'static [&'static str] {
    match flag {
        "output-format" => &["normal", "terse", "json", "json+", "csv", "markdown"],
        "color" | "eta" => &["auto", "always", "never"],
        "live" => &["auto", "line", "screen", "plain", "json", "no"],
        "idle-prof" => &["system", "percpu", "calibrate"],
        "ledger" => &["yes", "no"],
        _ => &[],
    }
}

fn of_option(option: &'static OptionDef) -> Arg {
    let argument = Arg::new(option.name)
        .long(option.name)
        .help(option.summary())
        .help_heading("Job options")
        .value_name(option.kind.word());
    let argument = match option.bare {
        Some(_) => argument.num_args(0..=1).require_equals(true),
        None => argument,
    };
    match option.kind {
        // Words may be prefixes of longer values (`random:4`), which clap need not know.
        _ if !option.choices.is_empty() => argument.value_parser(words(option)),
        ValueKind::Bool => argument.value_parser(["0", "1"]),
        ValueKind::Text => argument.value_hint(ValueHint::AnyPath),
        _ => argument.value_hint(ValueHint::Other),
    }
}

fn words(option: &'static OptionDef) -> PossibleValuesParser {
    let value = |&(word, doc): &(&'static str, &'static str)| PossibleValue::new(word).help(doc);
    PossibleValuesParser::new(option.choices.iter().map(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_of_each_table_is_known_once() {
        let root = definition(&[]);
        let names: Vec<&str> = root.get_arguments().filter_map(Arg::get_long).collect();
        for option in iosonde_spec::all() {
            let count = names.iter().filter(|name| **name == option.name).count();
            assert_eq!(count, 1, "{}", option.name);
        }
        assert!(names.contains(&"hipri") && names.contains(&"output-format"), "{names:?}");
    }
}
