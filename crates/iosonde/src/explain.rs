//! `iosonde explain JOB`: the plan, printed; nothing is run or written.
//! `iosonde explain RULE`: the meaning of a finding.

use iosonde_base::exit;
use iosonde_base::text::{bytes, counted, plain};
use iosonde_command::definition::CommandEntry;
use iosonde_options::nearest;
use iosonde_report::SetOption;
use iosonde_run::job::{FileKind, JobPlan, Need};
use iosonde_run::preflight::write_access;
use iosonde_session::jobs::without_effect;
use iosonde_session::prepare::{PrepareError, Prepared, parse, prepare_parsed};
use iosonde_session::settings::set_options;
use iosonde_session::{Personality, locked_files};
use iosonde_spec::cli::{Parsed, ParsedJob};
use iosonde_spec::values::EngineName;
use iosonde_sys::standard_error;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use std::fmt::Write;

/// The forms that `--help` shows.
const USAGE: &str = "iosonde explain [JOB OPTIONS] JOBFILE...
       iosonde explain FINDING";

/// What `--help` says below the summary.
const DETAILS: &str = "\
For a job: each option that is set and where its value comes from, the files,
how much data is moved, and what ends the job; which files and devices hold
data that would be lost. Nothing is run or written.

For a finding of a report, such as not-durable: what it means and what to do.
docs/verdict.md lists all findings.";

/// The entry in the table of commands.
pub static COMMAND: CommandEntry = CommandEntry {
    name: "explain",
    summary: "print what a job would do, or the meaning of a finding",
    details: DETAILS,
    usage: Some(USAGE),
    arguments: |command| command,
    takes_jobs: true,
    run,
};

/// Run with the words after `explain`; the exit code.
pub fn run(arguments: &[String]) -> u8 {
    match arguments {
        [] => {
            print_error(
                "iosonde: explain: name a job file, job options or a finding; see iosonde explain \
                 --help",
            );
            return exit::REFUSED;
        }
        [word] if word == "-h" || word == "--help" => {
            print(&COMMAND.help());
            return exit::OK;
        }
        _ => {}
    }
    if let [id] = arguments
        && let Some(text) = crate::rules::explain(id)
    {
        print(&text);
        return exit::OK;
    }
    if let Some(rule) = mistyped(arguments) {
        standard_error::print_line(format_args!(
            "iosonde: explain: {:?} is neither a job file nor a finding: did you mean {rule}?",
            arguments[0]
        ));
        return exit::REFUSED;
    }
    let arguments = match crate::profiles::expand(Personality::Native, arguments) {
        Ok(expanded) => expanded.arguments,
        Err(code) => return code,
    };
    let parsed = parse(Personality::Native, &arguments);
    if let Some(why) = without_effect(&parsed.flags, "the plan is printed, and no report") {
        print_error(&format!("iosonde: explain: {why}"));
        return exit::REFUSED;
    }
    if !parsed.flags.jobs.no_exec
        && let Some(path) = shared_object(&parsed)
    {
        print(&plain(&unloaded(&parsed, path)));
        return exit::OK;
    }
    match prepare_parsed(Personality::Native, parsed) {
        Ok(prepared) => {
            print(&plain(&explain(&prepared)));
            exit::OK
        }
        Err(PrepareError { code, reasons }) => {
            for line in reasons {
                print_error(&line);
            }
            code
        }
    }
}

/// The rule that was meant by a mistyped name, most likely.
fn mistyped(arguments: &[String]) -> Option<&'static str> {
    let [word] = arguments else { return None };
    if word.starts_with('-') || std::path::Path::new(word).exists() {
        return None;
    }
    nearest(word, crate::rules::ids())
}

/// The object that a job would load as its engine. Its code would run at once, and
/// explain runs nothing.
fn shared_object(parsed: &Parsed) -> Option<&str> {
    if parsed.is_refused() {
        return None;
    }
    parsed.jobs.iter().find_map(|job| match job.spec.engine.ioengine.get() {
        EngineName::External(path) => Some(path.as_str()),
        EngineName::Known(_) => None,
    })
}

/// What can be said of jobs without the engine that one of them would load.
fn unloaded(parsed: &Parsed, path: &str) -> String {
    let mut text = String::new();
    for section in &parsed.jobs {
        options(&mut text, section);
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "The engine is the shared object {path}, whose code would run at once: it is not loaded \
         here,\nand what these jobs would do is not known without it."
    );
    text
}

fn explain(prepared: &Prepared) -> String {
    let mut text = String::new();
    let jobs = &prepared.plan.jobs;
    for (index, section) in prepared.parsed.jobs.iter().enumerate() {
        options(&mut text, section);
        let clones: Vec<&JobPlan> = jobs.iter().filter(|job| job.section == index).collect();
        threads(&mut text, &clones);
        text.push('\n');
    }
    let total = jobs.iter().fold(0u64, |sum, job| sum.saturating_add(bytes_of(job)));
    let _ = writeln!(
        text,
        "{} in {}, {} in all",
        counted(jobs.len() as u64, "job"),
        counted(prepared.plan.waves.len() as u64, "wave"),
        amount(total),
    );
    let losses = prepared.data_warnings.iter().map(|warning| &warning.line);
    for line in prepared.notes.iter().chain(losses) {
        let _ = writeln!(text, "{line}");
    }
    let flags = &prepared.parsed.flags;
    let locked = locked_files(prepared.personality, &flags.output);
    for refusal in write_access::data_refusals(&prepared.plan, &flags.jobs.erase, locked) {
        let _ = writeln!(text, "iosonde: this run will be refused: {refusal}");
    }
    text
}

/// Each option that is set, its value, and where that was set.
fn options(text: &mut String, section: &ParsedJob) {
    let _ = writeln!(text, "job {}", section.name);
    let rows = set_options(&section.spec);
    let name_width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let value_width = rows.iter().map(|row| row.value.len()).max().unwrap_or(0).min(24);
    for SetOption { name, value, origin } in rows {
        let _ = writeln!(text, "  {name:name_width$}  {value:value_width$}  {origin}");
    }
}

/// What each thread does; those that do the same on the same files together.
fn threads(text: &mut String, clones: &[&JobPlan]) {
    let mut all: Vec<(&JobPlan, u32, String)> = Vec::new();
    for job in clones {
        let mut words = String::new();
        one_job(&mut words, job);
        match all.last_mut() {
            Some((_, last, same)) if *same == words => *last = job.number,
            _ => all.push((job, job.number, words)),
        }
    }
    for (first, last, words) in all {
        let _ = if last == first.number {
            write!(text, "  thread {last}: {words}")
        } else {
            write!(text, "  threads {} to {last}: {words}", first.number)
        };
    }
}

fn one_job(text: &mut String, job: &JobPlan) {
    let _ = writeln!(text, "{}, group {}", job.reporting.what, job.group);
    const SHOWN: usize = 8;
    for file in job.files.iter().take(SHOWN) {
        let kind = match file.kind {
            FileKind::None => "no file",
            FileKind::Regular => "file",
            FileKind::Block => "block device",
            FileKind::Character => "character device",
        };
        let made = match file.need {
            Need::Nothing => "used as it is",
            Need::Range => "created if missing, with its space reserved",
            Need::Data => "created or extended if too small, and filled with data",
        };
        let name = if file.kind == FileKind::None {
            file.name.clone()
        } else {
            file.path.display().to_string()
        };
        if job.source.replay.is_some() {
            let _ = writeln!(text, "    {kind} {name}: {made}");
            continue;
        }
        let _ = writeln!(
            text,
            "    {kind} {name}: bytes {} to {} ({}), {made}",
            file.offset,
            file.range_end(),
            amount(file.bytes),
        );
    }
    if job.files.len() > SHOWN {
        let _ = writeln!(text, "    ... and {} more files", job.files.len() - SHOWN);
    }
    let _ = writeln!(text, "    moves {}; ends {}", amount(bytes_of(job)), ends(job));
}

/// Bytes a job moves unless time or an error ends it before.
fn bytes_of(job: &JobPlan) -> u64 {
    if job.source.time_based {
        return u64::MAX;
    }
    let twice = if job.source.directions.trim_then_write { 2 } else { 1 };
    let by_size = job.source.total_bytes.saturating_mul(job.source.loops).saturating_mul(twice);
    let largest = iosonde_base::DIRS
        .into_iter()
        .filter(|&dir| job.dirs[dir])
        .map(|dir| u64::from(job.source.sizes[dir].max()))
        .max()
        .unwrap_or(0);
    let by_count = match job.source.number_ios {
        0 => u64::MAX,
        n => n.saturating_mul(job.source.loops).saturating_mul(largest).saturating_mul(twice),
    };
    by_size.min(by_count)
}

/// Which limit ends the job.
fn ends(job: &JobPlan) -> String {
    let source = &job.source;
    let mut limits = Vec::new();
    if let Some(runtime) = job.time.runtime {
        let after = if job.time.ramp.0 > 0 {
            format!(
                "{} s (runtime) after a ramp of {} s",
                runtime.secs_f64(),
                job.time.ramp.secs_f64()
            )
        } else {
            format!("{} s (runtime)", runtime.secs_f64())
        };
        if source.time_based {
            return format!("after {after}, repeating the workload until then (time_based)");
        }
        limits.push(format!("after {after}"));
    } else if source.time_based {
        return "never: time_based without runtime; press Ctrl-C".into();
    }
    let passes = match source.loops {
        1 => String::new(),
        n => format!(" in each of {n} loops"),
    };
    if source.number_ios > 0 {
        limits.push(format!("after {} I/Os{passes} (number_ios)", source.number_ios));
    }
    if source.replay.is_some() {
        limits.push("at the end of the recording (read_iolog)".into());
    } else if source.total_bytes == u64::MAX {
        limits.push("when the device is full (fill_device)".into());
    } else {
        limits.push(format!("after {}{passes} (size, io_size)", amount(source.total_bytes)));
    }
    match limits.len() {
        1 => limits.remove(0),
        _ => format!("{}, whichever comes first", limits.join(" or ")),
    }
}

/// Bytes, or that there is no limit to them.
fn amount(moved: u64) -> String {
    match moved {
        u64::MAX => "as much as there is time for".into(),
        moved => bytes(moved),
    }
}
