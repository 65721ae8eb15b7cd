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
    let command = match name {
        Some(name) => Some(*commands.iter().find(|command| command.name == name)?),
        None => None,
    };
    let definition =
        command.map_or_else(|| root::definition(commands), |command| command.definition());
    let usage = match command {
        Some(command) => usage(command),
        None => ROOT_USAGE.to_owned(),
    };
    let man = Man::new(definition);
    let mut page = Vec::new();
    let mut text = String::new();
    // Writing to memory does not fail.
    let _ = man.render_title(&mut page);
    let _ = man.render_name_section(&mut page);
    page.extend(section("SYNOPSIS", &usage).into_bytes());
    match command.filter(|command| !command.details.is_empty()) {
        Some(command) => page.extend(description(command.details).into_bytes()),
        None => {
            let _ = man.render_description_section(&mut page);
        }
    }
    if command.is_none() {
        let listed: String = commands
            .iter()
            .map(|one| entry(&format!("iosonde-{}(1)", one.name), one.summary))
            .collect();
        text.push_str(&format!(".SH COMMANDS\n{listed}"));
    }
    page.extend(std::mem::take(&mut text).into_bytes());
    let _ = man.render_options_section(&mut page);
    text.push_str(&examples(name.unwrap_or_default()));
    text.push_str(&section("EXIT STATUS", exit_status(command)));
    if command.is_none() {
        text.push_str(".SH FILES\n");
        FILES.iter().for_each(|(file, words)| text.push_str(&entry(file, words)));
        text.push_str(".SH ENVIRONMENT\n");
        ENVIRONMENT.iter().for_each(|(variable, words)| text.push_str(&entry(variable, words)));
    }
    let see = if command.is_some() { "iosonde(1), fio(1)" } else { "fio(1), iosonde help COMMAND" };
    text.push_str(&section("SEE ALSO", see));
    page.extend(text.into_bytes());
    Some(String::from_utf8(page).expect("names and texts of the tables are UTF-8"))
}

/// The forms of the command line of the program.
const ROOT_USAGE: &str = "iosonde [FLAGS] [JOB OPTIONS] [JOBFILE]...
iosonde COMMAND [ARGUMENTS]
iosonde";

/// What each exit code of a run means.
const EXIT_STATUS: &str = "0: all jobs succeeded.
1: nothing ran: a wrong option, an unknown engine, no job, a device in use.
N: N jobs failed, 127 at most.
3: with --strict, all jobs succeeded and a finding is more than a note.
4: with --strict, something about the run could not be seen.
128: a signal ended the run.";

/// What each exit code of most commands means.
const COMMAND_STATUS: &str = "0: done.
1: refused, or part of it failed.
3: with --strict, a finding is more than a note.
128: a signal ended it.";

const FILES: &[(&str, &str)] = &[
    (
        "JOB.N.FILE",
        "the file of a job without filename: the job's name, its number, the file's number",
    ),
    ("local-JOB-N-verify.state", "what a job with verify_state_save had written when it ended"),
    ("PREFIX_bw.N.log, _iops, _lat, _clat, _slat", "logs of a job, by its number"),
    ("compare.d, sweep.d", "results of the runs of compare and sweep (--out)"),
    ("compare.html, plot.html", "pages that are written where no other name is given"),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("${NAME} in a job file", "is replaced by the variable of that name"),
    ("IOSONDE_SECRET_FILE", "the secret of a server or client, as --secret-file"),
    ("NO_COLOR", "no colours, as --color=never"),
    ("COLUMNS", "the width of reports where standard output is no terminal"),
    ("TERM", "with dumb, a line in place of the live screen"),
];

/// Command lines to begin with, and what each does.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "",
        &[
            ("iosonde", "run a short safe job in this directory"),
            ("iosonde /data", "measure a directory in under a minute"),
            ("iosonde job.fio --html=run.html", "run a job file, and write a page"),
            (
                "iosonde --name=r --filename=f --size=1g --rw=randread --bs=4k --direct=1 --runtime=30 --time_based",
                "random reads for 30 s that bypass the page cache",
            ),
            ("iosonde explain job.fio", "print what a job file would do, and run nothing"),
            ("iosonde --output-format=json --output=run.json job.fio", "the result as JSON"),
        ],
    ),
    (
        "like",
        &[
            ("iosonde like", "list the workloads"),
            ("iosonde like etcd-wal /var/lib/etcd", "whether a disk is fast enough for etcd"),
        ],
    ),
    (
        "quick",
        &[("iosonde quick /data --html=quick.html", "measure a directory, and write a page")],
    ),
    ("explain", &[("iosonde explain not-durable", "what a finding means, and what to do")]),
    ("probe", &[("iosonde probe /dev/nvme0n1", "inspect a device before testing")]),
    ("report", &[("iosonde report run.json --html", "write run.html from a stored result")]),
    (
        "compare",
        &[
            ("iosonde compare a.fio b.fio", "run two job files in random pairs"),
            ("iosonde compare job.fio --a=--iodepth=1 --b=--iodepth=8", "two depths of a job"),
            ("iosonde compare old.json new.json", "two stored results"),
        ],
    ),
    (
        "sweep",
        &[
            ("iosonde sweep job.fio --over iodepth=1..256*2", "find the knee over the queue depth"),
            (
                "iosonde sweep job.fio --slo 'read.p99 < 2ms' --find rate_iops",
                "the highest rate that keeps a promise",
            ),
        ],
    ),
    ("plot", &[("iosonde plot run_bw.*.log", "draw logs of a rate as plot.html")]),
    ("audit", &[("iosonde audit fio.json", "check a fio result against its own disk counters")]),
    ("matrix", &[("iosonde matrix /data --quick", "what durability costs, in a few sizes")]),
    ("meta", &[("iosonde meta /data --files=10k", "operations on 10 000 files")]),
    ("cache", &[("iosonde cache --drop file", "drop the page-cache contents of a file")]),
    ("diagnose", &[("iosonde diagnose file --offset 20480 job.fio", "what a wrong block holds")]),
];

fn examples(command: &str) -> String {
    let found = EXAMPLES.iter().find(|(name, _)| *name == command);
    let Some((_, examples)) = found else { return String::new() };
    let entries: String = examples.iter().map(|(line, words)| entry(line, words)).collect();
    format!(".SH EXAMPLES\n{entries}")
}

/// The forms of a command's command line.
fn usage(command: &CommandEntry) -> String {
    let usage = match command.usage {
        Some(usage) => usage.to_owned(),
        None => command.definition().render_usage().to_string(),
    };
    usage.trim_start_matches("Usage:").trim().to_owned()
}

/// The exit codes of a command, where its help does not have its own.
fn exit_status(command: Option<&CommandEntry>) -> &'static str {
    match command {
        None => EXIT_STATUS,
        Some(command) if command.details.contains("Exit code") => {
            "The end of the description lists them."
        }
        Some(_) => COMMAND_STATUS,
    }
}

/// What a command does: paragraphs, and indented lines as they are.
fn description(details: &str) -> String {
    let mut text = String::from(".SH DESCRIPTION\n");
    for line in details.lines() {
        match (line.is_empty(), line.starts_with(' ')) {
            (true, _) => text.push_str(".PP\n"),
            (false, true) => text.push_str(&format!(".br\n{}\n.br\n", roff(line))),
            (false, false) => text.push_str(&format!("{}\n", roff(line))),
        }
    }
    text
}

/// A section of lines, each by itself.
fn section(title: &str, text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| roff(line.trim())).collect();
    format!(".SH {}\n{}\n", roff(title), lines.join("\n.br\n"))
}

/// A term in bold, and what it means below it.
fn entry(term: &str, words: &str) -> String {
    format!(".TP\n\\fB{}\\fR\n{}\n", roff(term), roff(words))
}

/// Text in which nothing is a command of roff.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::table;

    #[test]
    fn examples_are_of_commands_that_exist() {
        for (name, examples) in EXAMPLES {
            assert!(name.is_empty() || table::find(name).is_some(), "{name}");
            let begins = format!("iosonde {name}");
            assert!(examples.iter().all(|(line, _)| line.starts_with(begins.trim_end())), "{name}");
        }
    }

    #[test]
    fn nothing_in_a_text_is_a_command() {
        assert_eq!(roff(".a-b\\"), "\\&.a\\-b\\e");
        assert_eq!(
            description("a\nb\n\nc:\n  d"),
            ".SH DESCRIPTION\na\nb\n.PP\nc:\n.br\n  d\n.br\n"
        );
        let text = section("FILES", "a\nb");
        assert_eq!(text, ".SH FILES\na\n.br\nb\n");
    }
}
