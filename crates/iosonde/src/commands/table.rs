//! The commands of the program. A new one is one entry here; dispatch, help,
//! suggestions for a mistyped name, completions and the man page follow.

use super::{completions, help, man};
use crate::{explain, start};
use clap::Args;
use iosonde_base::exit;
use iosonde_command::definition::{CommandEntry, Commands};
use iosonde_options::nearest;
use iosonde_session::Personality;
use iosonde_studies::{compare, like, plot, sweep};
use iosonde_sys::standard_error::print_error;
use iosonde_tools::{
    audit, cache, dedupe, diagnose, genzipf, merge, probe, quick, report, selftest, verify_state,
    write_cache,
};

/// All commands, in the order in which help lists them.
pub static COMMANDS: Commands = &[
    &quick::COMMAND,
    &like::COMMAND,
    &explain::COMMAND,
    &probe::COMMAND,
    &iosonde_matrix::COMMAND,
    &iosonde_meta::COMMAND,
    &cache::COMMAND,
    &write_cache::COMMAND,
    &report::COMMAND,
    &merge::COMMAND,
    &plot::COMMAND,
    &audit::COMMAND,
    &compare::COMMAND,
    &sweep::COMMAND,
    &diagnose::COMMAND,
    &selftest::COMMAND,
    &SBK,
    &FIO,
    &genzipf::COMMAND,
    &dedupe::COMMAND,
    &verify_state::COMMAND,
    &COMPLETIONS,
    &MAN,
    &HELP,
];

static SBK: CommandEntry = CommandEntry {
    name: "sbk",
    summary: "run SBK's file benchmark: records per second, latency percentiles",
    details: "",
    usage: None,
    arguments: |_| iosonde_records::command(),
    takes_jobs: false,
    run: iosonde_records::run,
};

static FIO: CommandEntry = CommandEntry {
    name: "fio",
    summary: "behave exactly as fio: its texts, report and exit codes",
    details: "",
    usage: Some("iosonde fio [FLAGS] [JOB OPTIONS] JOBFILE..."),
    arguments: |command| command,
    takes_jobs: true,
    run: |words| start::run(Personality::Fio, words, overview),
};

static COMPLETIONS: CommandEntry = CommandEntry {
    name: "completions",
    summary: "print shell completions for bash, zsh or fish",
    details: completions::DETAILS,
    usage: None,
    arguments: completions::CompletionsArgs::augment_args,
    takes_jobs: false,
    run: |words| completions::run(&COMPLETIONS, COMMANDS, words),
};

static MAN: CommandEntry = CommandEntry {
    name: "man",
    summary: "print the manual page, of iosonde or of one command",
    details: man::DETAILS,
    usage: None,
    arguments: man::ManArgs::augment_args,
    takes_jobs: false,
    run: |words| match man::run(&MAN, COMMANDS, words) {
        Ok(code) => code,
        Err(unknown) => refuse_unknown(&unknown),
    },
};

static HELP: CommandEntry = CommandEntry {
    name: "help",
    summary: "print help, on iosonde or on one command",
    details: "",
    usage: None,
    arguments: help::HelpArgs::augment_args,
    takes_jobs: false,
    run: |words| match help::run(&HELP, COMMANDS, words) {
        Ok(code) => code,
        Err(unknown) => refuse_unknown(&unknown),
    },
};

/// Runs the program with the words after its name; the exit code.
type Run = fn(&[String]) -> u8;

/// Names that the program may be called by through a link, and what it then is.
const LINKS: &[(&str, Run)] = &[
    ("fio", FIO.run),
    ("sbk", SBK.run),
    ("fio-genzipf", genzipf::COMMAND.run),
    ("fio-dedupe", |words| dedupe::answer_as_fio(words).print()),
    ("fio-verify-state", verify_state::COMMAND.run),
];

/// What the program is when it is called by that name.
pub fn called_as(name: &str) -> Option<Run> {
    LINKS.iter().find(|(link, _)| *link == name).map(|(_, run)| *run)
}

/// The command of that name.
pub fn find(name: &str) -> Option<&'static CommandEntry> {
    COMMANDS.iter().copied().find(|command| command.name == name)
}

/// The name that a mistyped one most likely stands for.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    nearest(name, COMMANDS.iter().map(|command| command.name))
}

/// What does what a word of other programs' commands stands for.
pub fn instead_of(name: &str) -> Option<&'static str> {
    match name {
        "run" | "start" | "exec" => Some("jobs run without a command: iosonde JOBFILE"),
        "version" => Some("use iosonde --version"),
        "list" => Some("iosonde like lists workloads, iosonde --enghelp engines"),
        "bench" | "benchmark" | "test" => Some("iosonde quick PATH measures a path"),
        _ => None,
    }
}

/// Print that there is no such command; the exit code.
pub fn refuse_unknown(name: &str) -> u8 {
    let meant = match (instead_of(name), nearest_name(name)) {
        (Some(instead), _) => instead.to_owned(),
        (None, Some(near)) => format!("did you mean {near}?"),
        (None, None) => "iosonde --help lists them".to_owned(),
    };
    print_error(&format!("iosonde: unknown command {name:?}: {meant}"));
    exit::REFUSED
}

/// The page of `--help`.
pub fn overview(personality: Personality) -> String {
    help::overview(personality, COMMANDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::root;
    use clap::ValueEnum;

    #[test]
    fn each_command_is_in_help_completions_and_the_man_page() {
        let help = overview(Personality::Native);
        let page = man::page(COMMANDS, None).unwrap();
        let shells = completions::ShellName::value_variants();
        let scripts: Vec<String> =
            shells.iter().map(|&shell| completions::script(COMMANDS, shell)).collect();
        for command in COMMANDS {
            let line = format!("  {:<12} {}", command.name, command.summary);
            assert!(help.contains(&line), "{line}\n{help}");
            let name = command.name.replace('-', "\\-");
            assert!(page.contains(&format!("iosonde\\-{name}(1)")), "{name}\n{page}");
            for script in &scripts {
                assert!(script.contains(command.name), "{}", command.name);
            }
            let own = man::page(COMMANDS, Some(command.name)).unwrap();
            assert!(own.contains(".SH SYNOPSIS"), "{own}");
        }
    }

    #[test]
    fn clap_finds_no_fault_with_any_definition() {
        root::definition(COMMANDS).debug_assert();
    }

    #[test]
    fn help_fits_the_terminal_and_names_each_argument() {
        for command in COMMANDS {
            let help = command.help();
            assert!(help.contains("Usage: iosonde "), "{help}");
            let lines = help.lines().filter(|line| !line.starts_with("Usage: "));
            let widest = lines.map(|line| line.chars().count()).max();
            assert!(widest <= Some(80), "{widest:?}\n{help}");
            for argument in command.definition().get_arguments() {
                assert!(argument.get_help().is_some(), "{}: {argument}", command.name);
            }
        }
    }

    #[test]
    fn a_slip_in_a_name_is_noticed() {
        assert_eq!(nearest_name("matrx"), Some("matrix"));
        assert_eq!(nearest_name("database.fio"), None);
    }
}
