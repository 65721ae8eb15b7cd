//! One run: a command line to jobs, jobs to a report, a report to an exit code.

use crate::live::LiveShow;
use crate::metrics::{Endpoints, MetricsOutputs};
use crate::output::{ReportOutput, print, print_error};
use crate::personality::Personality;
use crate::prepare::{Prepared, lines_of, parse, prepare_parsed};
use crate::profiles::{ActHours, Expanded};
use crate::progress::RunProgress;
use crate::report_formats::{is_document, text};
use crate::run_outputs::RunOutputs;
use crate::{debug, exit, html_page, info_flags, judged, profiles, settings};
use iosonde_base::Nanos;
use iosonde_report::finding::Severity;
use iosonde_report::hosts::HostStamp;
use iosonde_run::account::cpu_idle::{IdleDetail, IdleProfile};
use iosonde_run::account::disks;
use iosonde_run::account::{ReportExtras as ReportContext, report};
use iosonde_run::conductor::{Peers, RunOutcome, conduct_among};
use iosonde_run::evidence::RunSeen;
use iosonde_run::job::{Plan, TriggerPlan};
use iosonde_run::preflight::open_files;
use iosonde_run::preflight::write_access::{self, DeviceData};
use iosonde_spec::cli::{
    Parsed,
    flags::{DebugWord, Flags, IdleProf, InfoRequest, TriggerFlags},
};
use iosonde_sys::guard::WriteRefusal;
use iosonde_sys::standard_error;
use std::path::Path;
use std::sync::Arc;

/// What makes a run one of several hosts'.
pub trait HostPart {
    /// The other hosts, for the conductor; none where it waits for none.
    fn peers(&mut self) -> Option<&mut dyn Peers>;

    /// Where and when the run took place.
    fn stamp(&self, plan: &Plan, ended: &RunOutcome) -> HostStamp;

    /// Keep this host's report; the one that is printed here, if any is.
    ///
    /// # Errors
    /// It cannot be kept.
    fn report(
        &mut self,
        report: iosonde_report::Report,
        output: &mut ReportOutput,
    ) -> Result<Option<iosonde_report::Report>, String>;

    /// The exit code that the other hosts add.
    fn code(&self) -> u8;
}

/// What runs have besides their jobs, if anything.
#[derive(Default)]
pub struct BesideRun<'h> {
    /// Limits of each hour (`--profile=act`).
    pub act: Option<ActHours>,
    /// Other hosts.
    pub host: Option<&'h mut dyn HostPart>,
}

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
            return info_flags::run(personality, request, no_exec || parsed.flags.no_exec);
        }
        None => {}
    }
    let options = debug::parse(&parsed);
    if parsed.flags.showcmd {
        return print_command_lines(personality, &parsed, options);
    }
    let flags = parsed.flags.clone();
    match prepare_parsed(personality, parsed) {
        Ok(_) if flags.parse_only => print_output(personality, &flags, &options),
        Ok(prepared) if flags.merge_only => merge_traces(personality, &prepared),
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
    let Some(mut output) = open_output(personality, flags) else { return exit::REFUSED };
    output.report(text);
    finish_output(personality, output)
}

/// `--showcmd`.
fn print_command_lines(personality: Personality, parsed: &Parsed, options: String) -> u8 {
    let lines = parsed.shown.iter().fold(options, |text, line| text + line + "\n");
    let code = print_output(personality, &parsed.flags, &lines);
    if !parsed.is_refused() {
        return code;
    }
    for notice in parsed.notices.iter().filter(|notice| notice.is_error()) {
        lines_of(personality, notice).iter().for_each(|line| print_error(line));
    }
    exit::REFUSED
}

/// `--merge-blktrace-only`.
fn merge_traces(personality: Personality, prepared: &Prepared) -> u8 {
    prepared.notes.iter().for_each(|line| standard_error::print_line(format_args!("{line}")));
    if let Err(refusals) = write_access::outputs(&prepared.plan, None) {
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

/// Run the jobs and print the report, after the lines of `--debug=parse`.
pub fn execute(
    personality: Personality,
    prepared: Prepared,
    options: &str,
    beside: BesideRun<'_>,
) -> u8 {
    let program = personality.program();
    let outputs = match RunOutputs::open(&prepared.parsed.flags) {
        Ok(outputs) => outputs,
        Err(why) => {
            print_error(&format!("{program}: {why}"));
            return exit::REFUSED;
        }
    };
    let Some(mut output) = open_output(personality, &prepared.parsed.flags) else {
        return exit::REFUSED;
    };
    output.report(options);
    if let Some(url) = outputs.endpoints.as_ref().and_then(Endpoints::url) {
        output.note(&format!("{program}: metrics at {url}"));
    }
    let outcome = match run_and_report(personality, prepared, outputs, &mut output, beside) {
        Ok(outcome) => outcome,
        Err(reasons) => {
            reasons.iter().for_each(|reason| output.error(&format!("{program}: {reason}")));
            return exit::REFUSED;
        }
    };
    let mut code = outcome.code;
    if let Err((path, error)) = &outcome.ended.bandwidth_log {
        output.error(&format!("{program}: cannot write {}: {error}", path.display()));
        code = code.max(exit::REFUSED);
    }
    if let Some(words) = &outcome.ended.trigger_failed {
        output.error(&format!("{program}: {words}"));
    }
    if finish_output(personality, output) != exit::OK {
        return exit::REFUSED;
    }
    if outcome.ended.abandoned {
        // Jobs still run; the process ends under them, as a second signal requests.
        std::process::exit(code.into());
    }
    code
}

/// The stream of the report; none, after an error message, if it cannot be opened.
fn open_output(personality: Personality, flags: &Flags) -> Option<ReportOutput> {
    let documents_only =
        flags.formats_given && flags.formats.iter().all(|&format| is_document(format));
    if let Some(path) = &flags.output
        && let Err(refusals) = write_access::outputs(&Plan::default(), Some(Path::new(path)))
    {
        let program = personality.program();
        refusals.iter().for_each(|why| print_error(&format!("{program}: {why}")));
        return None;
    }
    let opened = ReportOutput::open(flags.output.as_deref(), documents_only);
    let failed = |error| {
        let program = personality.program();
        let name = flags.output.as_deref().unwrap_or("standard output");
        print_error(&format!("{program}: cannot write the report to {name}: {error}"));
    };
    opened.map_err(failed).ok()
}

/// End the stream of the report; the exit code.
fn finish_output(personality: Personality, output: ReportOutput) -> u8 {
    match output.finish() {
        Ok(()) => exit::OK,
        Err(error) => {
            let program = personality.program();
            print_error(&format!("{program}: cannot write the report: {error}"));
            exit::REFUSED
        }
    }
}

/// A run that has been reported.
struct Reported {
    ended: RunOutcome,
    code: u8,
}

/// From notes to the report. The devices are locked until it is written, so
/// that nobody mounts one that jobs write to.
fn run_and_report(
    personality: Personality,
    prepared: Prepared,
    outputs: RunOutputs,
    output: &mut ReportOutput,
    BesideRun { act, mut host }: BesideRun<'_>,
) -> Result<Reported, Vec<String>> {
    let Prepared { parsed, mut plan, notes, data_warnings } = prepared;
    notes.iter().chain(&data_warnings).for_each(|line| output.note(line));
    plan.bandwidth_log = parsed.flags.bandwidth_log.clone();
    plan.trigger = trigger(&parsed.flags);
    write_access::outputs(&plan, None).map_err(in_words)?;
    one(plan.merged.iter().try_for_each(|merged| merged.write()))?;
    output.report(&debug::plan(&parsed.flags, &plan));
    let access =
        write_access::devices(&plan, device_data(personality, &parsed.flags)).map_err(in_words)?;
    access.notes.iter().for_each(|note| print_error(&format!("{}: {note}", personality.program())));
    if let Err(error) = open_files::raise(&plan) {
        output.note(&format!("{}: {error}", personality.program()));
    }
    let flags = &parsed.flags;
    let plan = Arc::new(with_flags(plan, personality, flags));
    let disks = disks::WatchedDisks::under(&plan);
    let context = report_context(personality, &parsed, &notes);
    let idle = flags.idle_prof.map(|_| IdleProfile::begin()).transpose();
    let idle = one(idle.map_err(|error| format!("idle-prof: {error}")))?;
    let RunOutputs { stream, endpoints } = outputs;
    let live = one(LiveShow::of(personality, flags, &plan, !output.allows_status_line(), stream))?;
    let metrics = endpoints.map(|endpoints| endpoints.begin(&parsed, &plan)).transpose();
    let metrics: Option<MetricsOutputs> = one(metrics)?;
    let around = (&context, &disks);
    let shown = (live, metrics.as_ref());
    let mut progress = RunProgress::new(personality, flags, &plan, around, output, shown);
    progress.act = act;
    progress.begin();
    let ended = run_among(&plan, &mut progress, &mut host);
    let disks_used = std::mem::take(&mut progress.used);
    let act = progress.act.take();
    let live_lost = progress.live_lost.take();
    let ended = one(ended.map_err(|error| format!("cannot listen for signals: {error}")))?;
    let hours_failed = act.and_then(|mut act| act.finish()).is_some_and(|verdict| {
        output.line(verdict.table.trim_end());
        verdict.failures.iter().for_each(|line| output.error(line));
        !verdict.failures.is_empty()
    });
    print_write_back_errors(personality, &plan, &ended);
    let cpu_idle = idle.zip(flags.idle_prof).map(|(idle, detail)| {
        idle.report(match detail {
            IdleProf::System => IdleDetail::System,
            IdleProf::PerCpu => IdleDetail::Each,
        })
    });
    let ledger = judged::ledger(&parsed, &plan, &ended);
    let settings = Some(settings::settings(&parsed, &plan));
    let context = ReportContext { disks: disks_used, cpu_idle, ledger, settings, ..context };
    let mut report = report(&plan, &ended.results, &context);
    if let Some(host) = &mut host {
        report.ours.host = Some(Box::new(host.stamp(&plan, &ended)));
        let printed = one(host.report(report, output))?;
        let code = exit_code(&ended).max(host.code());
        let Some(all) = printed else { return Ok(Reported { code, ended }) };
        report = all;
    }
    output.report(&text(personality, flags, &report));
    finish_outputs(flags, &report, metrics, live_lost)?;
    let code = judged_code(&ended, (hours_failed, flags), &report);
    let code = host.map_or(code, |host| code.max(host.code()));
    Ok(Reported { ended, code })
}

/// Write the page and the metrics: an error for each output that is not whole.
fn finish_outputs(
    flags: &Flags,
    report: &iosonde_report::Report,
    metrics: Option<MetricsOutputs>,
    live_lost: Option<std::io::Error>,
) -> Result<(), Vec<String>> {
    let page = html_page::write(flags, report);
    let metrics = metrics.map_or(Ok(()), |metrics| metrics.finish(report));
    let live = live_lost.map(|error| format!("--live=json: objects are lost: {error}"));
    let lost: Vec<String> = [page.err(), metrics.err(), live].into_iter().flatten().collect();
    if lost.is_empty() { Ok(()) } else { Err(lost) }
}

/// Data of jobs that could not be written back after the run.
fn print_write_back_errors(personality: Personality, plan: &Plan, ended: &RunOutcome) {
    for (job, why) in ended.seen.iter().flat_map(RunSeen::write_back_errors) {
        print_error(&format!("{}: job {}: {why}", personality.program(), plan.jobs[job].name));
    }
}

/// Run, together with other hosts if there are any.
fn run_among(
    plan: &Arc<Plan>,
    progress: &mut RunProgress<'_>,
    host: &mut Option<&mut dyn HostPart>,
) -> std::io::Result<RunOutcome> {
    conduct_among(plan.clone(), progress, host.as_mut().and_then(|host| host.peers()))
}

/// The exit code, of judged hours and of `--strict` too.
fn judged_code(
    ended: &RunOutcome,
    (hours_failed, flags): (bool, &Flags),
    report: &iosonde_report::Report,
) -> u8 {
    match exit_code(ended) {
        exit::OK if hours_failed => exit::failed(1),
        exit::OK if flags.strict && is_misleading(report) => exit::MISLEADING,
        exit::OK if flags.strict && is_unknown(report) => exit::UNKNOWN,
        code => code,
    }
}

/// Data on devices is refused to be overwritten, unless it is as fio.
fn device_data(personality: Personality, flags: &Flags) -> DeviceData<'_> {
    match personality {
        Personality::Fio => DeviceData::Note,
        Personality::Native => DeviceData::Refuse(&flags.erase),
    }
}

fn in_words(refusals: Vec<WriteRefusal>) -> Vec<String> {
    refusals.iter().map(ToString::to_string).collect()
}

/// One reason instead of several.
fn one<T, E: ToString>(result: Result<T, E>) -> Result<T, Vec<String>> {
    result.map_err(|error| vec![error.to_string()])
}

/// The plan with what flags of the program add to it.
pub fn with_flags(mut plan: Plan, personality: Personality, flags: &Flags) -> Plan {
    for job in &mut plan.jobs {
        job.measure.trace = debug::is_on(flags, DebugWord::Io, Some(job.number));
    }
    if shows_ledger(personality, flags) {
        iosonde_run::evidence::ask(&mut plan);
    }
    plan
}

/// What ends the run from outside.
fn trigger(flags: &Flags) -> Option<TriggerPlan> {
    let TriggerFlags { file, timeout_ms, command } = flags.trigger.clone();
    let documents = flags.formats_given && flags.formats.iter().all(|&format| is_document(format));
    flags.trigger.fires().then(|| TriggerPlan {
        file: file.map(Into::into),
        timeout: timeout_ms.map(|ms| Nanos(ms.saturating_mul(1_000_000))),
        command,
        directory: flags.aux_path.clone().map(Into::into).unwrap_or_default(),
        to_stderr: documents && flags.output.is_none(),
    })
}

/// What the report says besides results.
pub fn report_context(
    personality: Personality,
    parsed: &Parsed,
    notes: &[String],
) -> ReportContext {
    ReportContext {
        global_options: judged::global_options(parsed),
        disks: disks::DiskUse::default(),
        cpu_idle: None,
        ledger: None,
        settings: None,
        host: None,
        diagnostics: if personality == Personality::Native && !parsed.flags.formats_given {
            Vec::new()
        } else {
            notes.iter().map(|line| without_program(line).to_owned()).collect()
        },
    }
}

/// A line without the program's name, which a report need not repeat.
fn without_program(line: &str) -> &str {
    ["iosonde: ", "fio: "].iter().find_map(|name| line.strip_prefix(name)).unwrap_or(line)
}

/// In our own name the ledger is shown unless it is turned off; as fio only if
/// it is turned on.
fn shows_ledger(personality: Personality, flags: &Flags) -> bool {
    flags.ledger.unwrap_or(personality == Personality::Native || flags.strict)
}

/// Whether a finding is more than a note.
fn is_misleading(report: &iosonde_report::Report) -> bool {
    let ledger = report.ours.ledger.as_ref();
    ledger.is_some_and(|ledger| ledger.verdict.iter().any(|f| f.severity > Severity::Note))
}

/// Whether signals that the verdict needs were missing.
fn is_unknown(report: &iosonde_report::Report) -> bool {
    let ledger = report.ours.ledger.as_ref();
    ledger.is_some_and(|ledger| !ledger.unknown_statements().is_empty())
}

fn exit_code(outcome: &RunOutcome) -> u8 {
    if outcome.signal.is_some() {
        return exit::SIGNALLED;
    }
    let failed = outcome.results.iter().flatten().filter(|result| result.error.is_some());
    exit::failed(failed.count())
}
