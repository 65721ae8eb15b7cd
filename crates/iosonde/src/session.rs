//! One call of the program: arguments to jobs, jobs to a report, a report to
//! text and an exit code.

use crate::output::{Output, complain, say};
use crate::personality::Personality;
use crate::watch::Watch;
use crate::written::{is_document, text};
use crate::{answers, debug, exit};
use iosonde_options::{Diagnostic, Level, Origin};
use iosonde_run::account::cpu_idle::{IdleProfile, Tell};
use iosonde_run::account::disks;
use iosonde_run::account::{Surroundings, report};
use iosonde_run::conductor::{Outcome, conduct};
use iosonde_run::job::Plan;
use iosonde_run::plan;
use iosonde_run::preflight::{open_files, write_access};
use iosonde_spec::cli::{
    Notice, Parsed, World, flag_table,
    flags::{DebugWord, Flags, IdleProf},
};
use iosonde_spec::text::{expand::Host, include::DiskJobFiles};
use iosonde_witness::{Ledger, Severity};
use std::env::VarError;
use std::sync::Arc;

/// Jobs, read and planned; nothing touched.
pub struct Prepared {
    /// As they were asked for.
    pub parsed: Parsed,
    /// As they will run.
    pub plan: Plan,
    /// Notes and warnings, a line each.
    pub said: Vec<String>,
}

/// Why nothing runs.
pub struct Refused {
    /// The exit code.
    pub code: u8,
    /// The reasons, a line each.
    pub said: Vec<String>,
}

/// Run the program with these arguments, the program's own name left out.
pub fn run(personality: Personality, arguments: &[String]) -> u8 {
    let parsed = parse(personality, arguments);
    if let Some(ask) = &parsed.flags.info {
        let (text, code) = answers::answer(personality, ask);
        say(&text);
        return code;
    }
    if parsed.flags.showcmd {
        return show(personality, &parsed);
    }
    let parse_only = parsed.flags.parse_only;
    match prepare_parsed(personality, parsed) {
        Ok(_) if parse_only => exit::OK,
        Ok(prepared) if prepared.parsed.flags.merge_only => merge(personality, &prepared),
        Ok(prepared) if prepared.plan.jobs.is_empty() => no_jobs(personality),
        Ok(prepared) => execute(personality, prepared),
        Err(refused) => {
            for line in &refused.said {
                complain(line);
            }
            refused.code
        }
    }
}

/// Read, and nothing more.
pub fn parse(personality: Personality, arguments: &[String]) -> Parsed {
    let flags: &[&[flag_table::FlagDef]] = match personality {
        Personality::Fio => &[flag_table::FIO, flag_table::LEDGER],
        Personality::Native => &[flag_table::FIO, flag_table::OURS, flag_table::LEDGER],
    };
    iosonde_spec::cli::parse(arguments, &World { files: &DiskJobFiles, host: &ThisMachine, flags })
}

/// What `${NAME}`, `$ncpus` and the like stand for here.
struct ThisMachine;

impl Host for ThisMachine {
    fn variable(&self, name: &str) -> Result<String, VarError> {
        std::env::var(name)
    }
    fn processors(&self) -> u64 {
        iosonde_sys::cpu::allowed_count() as u64
    }
    fn page_bytes(&self) -> u64 {
        iosonde_sys::memory::page_bytes() as u64
    }
    fn memory_mib(&self) -> u64 {
        iosonde_sys::memory::total_bytes() >> 20
    }
}

/// Read and plan, touching nothing.
pub fn prepare(personality: Personality, arguments: &[String]) -> Result<Prepared, Refused> {
    prepare_parsed(personality, parse(personality, arguments))
}

/// Plan what was read, touching nothing.
pub fn prepare_parsed(personality: Personality, mut parsed: Parsed) -> Result<Prepared, Refused> {
    let mut said: Vec<String> = Vec::new();
    for notice in &parsed.notices {
        said.extend(lines_of(personality, notice));
    }
    if parsed.is_refused() {
        return Err(Refused { code: exit::REFUSED, said });
    }
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for job in &mut parsed.jobs {
        let caps = plan::caps(&job.spec);
        diagnostics.extend(iosonde_spec::resolve(&mut job.spec, &caps));
    }
    let fatal = if parsed.flags.warnings_fatal { Level::Warning } else { Level::Error };
    let is_fatal = |said: &Diagnostic| said.level >= fatal;
    let mut planned = plan::Planned::default();
    if !diagnostics.iter().any(is_fatal) && !parsed.flags.parse_only {
        let totals = match (personality, parsed.flags.formats_given) {
            (Personality::Native, false) => plan::Totals::Kept,
            _ => plan::Totals::AsAsked,
        };
        planned = match parsed.flags.merge_only {
            true => plan::merge_only(&parsed.jobs),
            false => plan::plan(&parsed.jobs, totals),
        };
        if parsed.flags.readonly {
            diagnostics.extend(plan::refuse_writes(&planned.plan));
        }
        diagnostics.append(&mut planned.diagnostics);
    }
    let mut lines: Vec<String> = Vec::new();
    for diagnostic in &diagnostics {
        let line = line(personality, diagnostic);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    said.append(&mut lines);
    if diagnostics.iter().any(is_fatal) {
        return Err(Refused { code: exit::REFUSED, said });
    }
    Ok(Prepared { parsed, plan: planned.plan, said })
}

/// What is said of a notice. Called as fio: first its own lines, which parsers
/// look for, then, of a job file, where that is, which it does not tell.
fn lines_of(personality: Personality, notice: &Notice) -> Vec<String> {
    let ours = line(personality, &notice.diagnostic);
    match personality {
        Personality::Native => vec![ours],
        Personality::Fio if notice.fio.is_empty() => vec![ours],
        Personality::Fio => {
            let in_file = matches!(notice.diagnostic.origin, Origin::File { .. });
            notice.fio.iter().cloned().chain(in_file.then_some(ours)).collect()
        }
    }
}

/// A diagnostic as a line: fio's notes are bare, ours name the program.
fn line(personality: Personality, said: &Diagnostic) -> String {
    match (personality, said.level) {
        (Personality::Fio, Level::Note) => format!("note: {}", said.message),
        (Personality::Fio, _) => format!("fio: {said}"),
        // A place in a file stands first, as with every compiler.
        (Personality::Native, _) if matches!(said.origin, Origin::File { .. }) => said.to_string(),
        (Personality::Native, _) => format!("iosonde: {said}"),
    }
}

/// A line without the program's name: in a report it goes without saying.
fn bare(line: &str) -> &str {
    ["iosonde: ", "fio: "].iter().find_map(|name| line.strip_prefix(name)).unwrap_or(line)
}

fn show(personality: Personality, parsed: &Parsed) -> u8 {
    parsed.shown.iter().for_each(|line| say(&format!("{line}\n")));
    match parsed.is_refused() {
        true => {
            for notice in parsed.notices.iter().filter(|notice| notice.is_error()) {
                lines_of(personality, notice).iter().for_each(|line| complain(line));
            }
            exit::REFUSED
        }
        false => exit::OK,
    }
}

/// `--merge-blktrace-only`.
fn merge(personality: Personality, prepared: &Prepared) -> u8 {
    prepared.said.iter().for_each(|line| eprintln!("{line}"));
    match prepared.plan.merged.iter().try_for_each(|merged| merged.write()) {
        Ok(()) => exit::OK,
        Err(error) => {
            eprintln!("{}: {error}", personality.program());
            exit::REFUSED
        }
    }
}

fn no_jobs(personality: Personality) -> u8 {
    match personality {
        Personality::Fio => {
            say(&format!("No job(s) defined\n\n{}", answers::usage(personality)));
        }
        Personality::Native => {
            eprintln!(
                "iosonde: no job: name a job file, or give --name=... and options (see --help)"
            );
        }
    }
    exit::REFUSED
}

fn execute(personality: Personality, prepared: Prepared) -> u8 {
    let Prepared { parsed, mut plan, said } = prepared;
    let flags = &parsed.flags;
    let documents_only =
        flags.formats_given && flags.formats.iter().all(|&format| is_document(format));
    let mut output = match Output::open(flags.output.as_deref(), documents_only) {
        Ok(output) => output,
        Err(error) => {
            let name = flags.output.as_deref().unwrap_or("standard output");
            complain(&format!(
                "{}: cannot write the report to {name}: {error}",
                personality.program()
            ));
            return exit::REFUSED;
        }
    };
    for line in &said {
        output.note(line);
    }
    if let Err(error) = plan.merged.iter().try_for_each(|merged| merged.write()) {
        output.error(&format!("{}: {error}", personality.program()));
        return exit::REFUSED;
    }
    for told in [debug::parse(&parsed), debug::plan(flags, &plan)] {
        output.report(&told);
    }
    for job in &mut plan.jobs {
        job.trace = debug::is_on(flags, DebugWord::Io, Some(job.number));
    }
    // Held until the report is written: nobody may mount what we write to.
    let _held = match write_access::devices(&plan) {
        Ok(held) => held,
        Err(refusals) => {
            for refusal in refusals {
                output.error(&format!("{}: {refusal}", personality.program()));
            }
            return exit::REFUSED;
        }
    };
    if let Err(error) = open_files::raise(&plan) {
        output.note(&format!("{}: {error}", personality.program()));
    }
    let mut plan = plan;
    plan.bandwidth_log = flags.bandwidth_log.clone();
    if tells_ledger(personality, flags) {
        iosonde_run::evidence::ask(&mut plan);
    }
    let plan = Arc::new(plan);
    let watched = disks::Watched::under(&plan);
    let around = Surroundings {
        global_options: globals(&parsed),
        disks: disks::DiskUse::default(),
        cpu_idle: None,
        ledger: None,
        diagnostics: match personality == Personality::Native && !flags.formats_given {
            // They stand above our own report already.
            true => Vec::new(),
            false => said.iter().map(|line| bare(line).to_owned()).collect(),
        },
    };
    let idle = match flags.idle_prof.map(|_| IdleProfile::begin()).transpose() {
        Ok(idle) => idle,
        Err(error) => {
            output.error(&format!("{}: idle-prof: {error}", personality.program()));
            return exit::REFUSED;
        }
    };
    let mut watch = Watch::new(personality, flags, &plan, (&around, &watched), &mut output);
    watch.begin();
    let outcome = match conduct(plan.clone(), &mut watch) {
        Ok(outcome) => outcome,
        Err(error) => {
            output.error(&format!("{}: cannot listen for signals: {error}", personality.program()));
            return exit::REFUSED;
        }
    };
    let used = std::mem::take(&mut watch.used);
    let cpu_idle = idle.zip(flags.idle_prof).map(|(idle, tell)| {
        idle.told(match tell {
            IdleProf::System => Tell::System,
            IdleProf::PerCpu => Tell::Each,
        })
    });
    let ledger = ledger(&plan, &outcome, around.global_options.as_deref().unwrap_or_default());
    let around = Surroundings { disks: used, cpu_idle, ledger, ..around };
    let told = report(&plan, &outcome.results, &around);
    output.report(&text(personality, flags, &told));
    let mut code = code(&outcome);
    if code == exit::OK && flags.strict && misleads(&told) {
        code = exit::MISLEADING;
    }
    if let Err((path, error)) = &outcome.bandwidth_log {
        let path = path.display();
        output.error(&format!("{}: cannot write {path}: {error}", personality.program()));
        code = code.max(exit::REFUSED);
    }
    if let Err(error) = output.finish() {
        complain(&format!("{}: cannot write the report: {error}", personality.program()));
        return exit::REFUSED;
    }
    if outcome.abandoned {
        // Jobs still run; the process ends under them, as was asked twice.
        std::process::exit(code.into());
    }
    code
}

/// Our own personality tells the ledger unless it is told not to; fio's only
/// if it is asked.
fn tells_ledger(personality: Personality, flags: &Flags) -> bool {
    flags.ledger.unwrap_or(personality == Personality::Native || flags.strict)
}

/// What was seen, put together and judged.
fn ledger(plan: &Plan, outcome: &Outcome, globals: &[(String, String)]) -> Option<Box<Ledger>> {
    let seen = outcome.seen.as_ref()?;
    let seen = iosonde_run::evidence::evidence(plan, &outcome.results, seen, globals);
    let mut ledger = iosonde_witness::ledger(&seen);
    ledger.verdict = iosonde_witness::judge(&ledger);
    Some(Box::new(ledger))
}

/// A finding says more than a note.
fn misleads(told: &iosonde_report::Report) -> bool {
    let ledger = told.ours.ledger.as_ref();
    ledger.is_some_and(|ledger| ledger.verdict.iter().any(|f| f.severity > Severity::Note))
}

fn code(outcome: &Outcome) -> u8 {
    if outcome.signal.is_some() {
        return exit::SIGNALLED;
    }
    let failed = outcome.results.iter().flatten().filter(|result| result.error.is_some());
    exit::failed(failed.count())
}

fn globals(parsed: &Parsed) -> Option<Vec<(String, String)>> {
    let mut all: Vec<(String, String)> = Vec::new();
    for asked in parsed.jobs.iter().flat_map(|job| &job.globals) {
        let pair = iosonde_run::account::told(asked);
        match all.iter_mut().find(|(name, _)| *name == pair.0) {
            Some(earlier) => earlier.1 = pair.1,
            None => all.push(pair),
        }
    }
    (!all.is_empty()).then_some(all)
}
