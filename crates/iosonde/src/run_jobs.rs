//! A command line: its flags, its jobs prepared, and what becomes of them.

use crate::job_run::{BesideRun, execute, open_output};
use crate::profiles::{ActHours, Expanded};
use crate::{debug, info_flags, profiles};
use iosonde_base::exit;
use iosonde_run::job::Plan;
use iosonde_run::preflight::write_access;
use iosonde_session::prepare::{Prepared, lines_of, parse, prepare_parsed, warned_fatally};
use iosonde_session::{Personality, locked_files};
use iosonde_spec::cli::{
    Parsed,
    flags::{Flags, InfoRequest},
};
use iosonde_sys::standard_error;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;

/// Makes the page of `--help`.
pub type Help = fn(Personality) -> String;

/// Run the jobs of a command line, or print what its flags request; the exit
/// code.
pub fn run(personality: Personality, arguments: &[String], help: Help) -> u8 {
    let Expanded { arguments, judges_hours } = match profiles::expand(personality, arguments) {
        Ok(expanded) => expanded,
        Err(code) => return code,
    };
    let parsed = parse(personality, &arguments);
    match &parsed.flags.info {
        Some(InfoRequest::Help) => {
            print(&help(personality));
            return exit::OK;
        }
        Some(request) => {
            // Such a flag ends the reading of flags; this one counts wherever it stands.
            let no_exec = arguments.iter().any(|word| word == "--no-exec");
            return info_flags::run(personality, request, no_exec || parsed.flags.jobs.no_exec);
        }
        None => {}
    }
    if let Some(unknown) = &parsed.flags.run.debug_unknown {
        print_error(&format!("{}: {unknown}", personality.program()));
    }
    let options = debug::set_words(personality, &parsed.flags.run) + &debug::parse(&parsed);
    if parsed.flags.run.showcmd {
        return print_command_lines(personality, &parsed, options);
    }
    let flags = parsed.flags.clone();
    match prepare_parsed(personality, parsed) {
        Ok(_) if flags.run.parse_only => print_output(personality, &flags, &options),
        Ok(prepared) if flags.run.merge_only => merge_traces(personality, &prepared),
        Ok(prepared) if prepared.plan.jobs.is_empty() => {
            print_output(personality, &flags, &options);
            refuse_no_jobs(personality, help)
        }
        Ok(prepared) => {
            let act = judges_hours.then(ActHours::default);
            execute(personality, prepared, &options, BesideRun { act, host: None })
        }
        Err(refused) => {
            print_output(personality, &flags, &options);
            refused.reasons.iter().for_each(|line| print_error(line));
            refused.code
        }
    }
}

/// Print text that is no report to where the report would go; the exit code.
fn print_output(personality: Personality, flags: &Flags, text: &str) -> u8 {
    if text.is_empty() {
        return exit::OK;
    }
    let Some(mut output) = open_output(personality, &flags.output, &Plan::default()) else {
        return exit::REFUSED;
    };
    output.report(text);
    output.end(personality)
}

/// `--showcmd`.
fn print_command_lines(personality: Personality, parsed: &Parsed, options: String) -> u8 {
    let lines = parsed.shown.iter().fold(options, |text, line| text + line + "\n");
    let code = print_output(personality, &parsed.flags, &lines);
    let fatal = warned_fatally(personality, parsed);
    if !parsed.is_refused() && !fatal {
        return code;
    }
    for notice in parsed.notices.iter().filter(|notice| fatal || notice.is_error()) {
        lines_of(personality, notice).iter().for_each(|line| print_error(line));
    }
    exit::REFUSED
}

/// `--merge-blktrace-only`.
fn merge_traces(personality: Personality, prepared: &Prepared) -> u8 {
    prepared.notes.iter().for_each(|line| standard_error::print_line(format_args!("{line}")));
    if let Err(refusals) = write_access::outputs(
        &prepared.plan,
        None,
        locked_files(personality, &prepared.parsed.flags.output),
    ) {
        let program = personality.program();
        refusals.iter().for_each(|why| print_error(&format!("{program}: {why}")));
        return exit::REFUSED;
    }
    match prepared.plan.merged.iter().try_for_each(|merged| merged.write()) {
        Ok(()) => exit::OK,
        Err(error) => {
            standard_error::print_line(format_args!("{}: {error}", personality.program()));
            exit::REFUSED
        }
    }
}

pub fn refuse_no_jobs(personality: Personality, help: Help) -> u8 {
    match personality {
        Personality::Fio => print(&format!("No job(s) defined\n\n{}", help(personality))),
        Personality::Native => standard_error::print_line(format_args!(
            "iosonde: no job: name a job file, or give --name=... and options (see --help)"
        )),
    }
    exit::REFUSED
}
