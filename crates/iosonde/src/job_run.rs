//! A run of jobs, from the plan to the report and the exit code: its steps, in their order.

use crate::live::LiveShow;
use crate::metrics::{Endpoints, MetricsOutputs};
use crate::output::ReportOutput;
use crate::profiles::ActHours;
use crate::progress::RunProgress;
use crate::report_formats::{prints_documents_only, text};
use crate::run_outputs::RunOutputs;
use crate::{debug, html_page};
use iosonde_base::Nanos;
use iosonde_base::exit;
use iosonde_report::Report;
use iosonde_report::finding::Severity;
use iosonde_report::hosts::HostStamp;
use iosonde_run::conductor::{Peers, RunOutcome};
use iosonde_run::evidence::RunSeen;
use iosonde_run::job::{Plan, TriggerPlan};
use iosonde_run::preflight::write_access;
use iosonde_session::Personality;
use iosonde_session::prepare::Prepared;
use iosonde_session::{Measured, ReadyRun, RunEnd, RunRules, Session, Work, locked_files};
use iosonde_spec::cli::flags::{DebugWord, Flags, OutputFlags, TriggerFlags};
use iosonde_sys::standard_error::print_error;
use std::io::IsTerminal;
use std::path::Path;

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
        report: Report,
        output: &mut ReportOutput,
    ) -> Result<Option<Report>, String>;

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

/// Run the jobs and print the report, after the lines of `--debug=parse`; the exit code.
pub fn execute(
    personality: Personality,
    prepared: Prepared,
    options: &str,
    beside: BesideRun<'_>,
) -> u8 {
    let program = personality.program();
    let flags = prepared.parsed.flags.clone();
    let outputs = match RunOutputs::open(&flags, &prepared.plan) {
        Ok(outputs) => outputs,
        Err(why) => {
            print_error(&format!("{program}: {why}"));
            return exit::REFUSED;
        }
    };
    let Some(mut output) = open_output(personality, &flags.output, &prepared.plan) else {
        return exit::REFUSED;
    };
    output.report(options);
    if let Some(url) = outputs.endpoints.as_ref().and_then(Endpoints::url) {
        output.note(&format!("{program}: metrics at {url}"));
    }
    let mut run = JobRun { personality, flags: &flags, output: &mut output };
    let (outcome, code) = match run.run_and_report(prepared, outputs, beside) {
        Ok(reported) => reported,
        Err(reasons) => {
            reasons.iter().for_each(|reason| output.error(&format!("{program}: {reason}")));
            output.end(personality);
            return exit::REFUSED;
        }
    };
    let code = code.max(run.print_lost_logs(&outcome));
    if output.end(personality) != exit::OK {
        return exit::REFUSED;
    }
    if outcome.abandoned {
        // Jobs still run; the process ends under them, as a second signal requests.
        std::process::exit(code.into());
    }
    code
}

/// The stream of the report of a plan; none, after an error message, if it cannot be opened.
pub fn open_output(
    personality: Personality,
    flags: &OutputFlags,
    plan: &Plan,
) -> Option<ReportOutput> {
    if let Some(path) = &flags.file
        && let Err(refusals) =
            write_access::outputs(plan, Some(Path::new(path)), locked_files(personality, flags))
    {
        let program = personality.program();
        refusals.iter().for_each(|why| print_error(&format!("{program}: {why}")));
        return None;
    }
    name_replaced(personality, flags);
    let opened = ReportOutput::open(flags.file.as_deref(), prints_documents_only(flags));
    let failed = |error| {
        let program = personality.program();
        let name = flags.file.as_deref().unwrap_or("standard output");
        print_error(&format!("{program}: cannot write the report to {name}: {error}"));
    };
    opened.map_err(failed).ok()
}

/// In our own name: say which file `--output` replaces. Beside a document only on a terminal, as
/// every note.
fn name_replaced(personality: Personality, flags: &OutputFlags) {
    let Some(path) = flags.file.as_ref().filter(|_| personality == Personality::Native) else {
        return;
    };
    let holds_data = |found: std::fs::Metadata| found.is_file() && found.len() > 0;
    let is_shown = !prints_documents_only(flags) || std::io::stderr().is_terminal();
    if is_shown && std::fs::metadata(path).is_ok_and(holds_data) {
        print_error(&format!("iosonde: note: --output replaces the existing file {path}"));
    }
}

/// One run, and where it prints.
struct JobRun<'a> {
    personality: Personality,
    flags: &'a Flags,
    output: &'a mut ReportOutput,
}

/// What shows a run while it takes place.
struct Shown {
    live: LiveShow,
    metrics: Option<MetricsOutputs>,
}

/// A run that has ended, with what was kept beside its results.
struct EndedRun {
    measured: Measured,
    act: Option<ActHours>,
    metrics: Option<MetricsOutputs>,
    live_lost: Option<std::io::Error>,
}

impl JobRun<'_> {
    /// From notes to the report, and the exit code. The devices are locked until it is
    /// written, so that nobody mounts one that jobs write to.
    fn run_and_report(
        &mut self,
        prepared: Prepared,
        outputs: RunOutputs,
        BesideRun { act, mut host }: BesideRun<'_>,
    ) -> Result<(RunOutcome, u8), Vec<String>> {
        let session = Session::default();
        self.print_notes(&prepared);
        let work = self.work(prepared);
        let rules = RunRules::of_flags(self.personality, self.flags);
        let ready = session.open(work, &rules).map_err(RunEnd::reasons)?;
        self.print_cautions(&ready);
        let shown = self.show(&ready, outputs)?;
        let mut ended = self.run(&ready, shown, act, &mut host)?;
        let hours_failed = self.print_hours(ended.act.take());
        self.print_write_back_errors(&ended.measured);
        let code = match self.report(&ended.measured, &mut host)? {
            Some(report) => {
                self.output.report(&text(self.personality, &self.flags.output, &report));
                self.finish_outputs(&report, ended.metrics, ended.live_lost)?;
                self.judged_code(exit_code(&ended.measured), hours_failed, &report)
            }
            None => exit_code(&ended.measured),
        };
        let code_of_hosts = host.map_or(exit::OK, |host| host.code());
        Ok((ended.measured.outcome, code.max(code_of_hosts)))
    }

    fn print_notes(&mut self, prepared: &Prepared) {
        let losses = prepared.data_warnings.iter().map(|warning| &warning.line);
        let notes = prepared.notes.iter().chain(losses);
        notes.for_each(|line| self.output.note(line));
    }

    /// The jobs with what the flags of the program add to their plan.
    fn work(&mut self, mut prepared: Prepared) -> Work {
        let plan = &mut prepared.plan;
        plan.trigger = self.trigger().map(Box::new);
        for job in &mut plan.jobs {
            job.measure.trace = debug::is_on(&self.flags.run, DebugWord::Io, Some(job.number));
        }
        self.output.report(&debug::plan(&self.flags.run, plan));
        Work::Typed(Box::new(prepared))
    }

    /// What ends the run from outside.
    fn trigger(&self) -> Option<TriggerPlan> {
        let flags = self.flags;
        let TriggerFlags { file, timeout_ms, command } = flags.run.trigger.clone();
        flags.run.trigger.fires().then(|| TriggerPlan {
            file: file.map(Into::into),
            timeout: timeout_ms.map(|ms| Nanos(ms.saturating_mul(1_000_000))),
            command,
            directory: flags.jobs.aux_path.clone().map(Into::into).unwrap_or_default(),
            to_stderr: prints_documents_only(&flags.output) && flags.output.file.is_none(),
        })
    }

    /// What will be lost, and what the system does not give.
    fn print_cautions(&mut self, ready: &ReadyRun<'_>) {
        let program = self.personality.program();
        ready.losses().iter().for_each(|line| print_error(&format!("{program}: {line}")));
        if let Some(limit) = &ready.limit {
            self.output.note(&format!("{program}: {limit}"));
        }
    }

    /// Start what shows the run.
    fn show(&mut self, ready: &ReadyRun<'_>, outputs: RunOutputs) -> Result<Shown, Vec<String>> {
        let RunOutputs { stream, endpoints } = outputs;
        let has_document = !self.output.allows_status_line();
        let live = LiveShow::of(self.personality, self.flags, &ready.plan, has_document, stream)
            .map_err(|why| vec![why])?;
        let begin = |endpoints: Endpoints| endpoints.begin(ready);
        let metrics = endpoints.map(begin).transpose().map_err(|why| vec![why])?;
        Ok(Shown { live, metrics })
    }

    /// Run, together with other hosts if there are any.
    fn run(
        &mut self,
        ready: &ReadyRun<'_>,
        Shown { live, metrics }: Shown,
        act: Option<ActHours>,
        host: &mut Option<&mut dyn HostPart>,
    ) -> Result<EndedRun, Vec<String>> {
        let mut progress =
            RunProgress::new(self.personality, self.flags, ready, self.output, live, &metrics);
        progress.act = act;
        progress.begin();
        let peers = host.as_mut().and_then(|host| host.peers());
        let measured = ready.run(&mut progress, peers).map_err(RunEnd::reasons)?;
        let (act, live_lost) = (progress.act.take(), progress.live_lost.take());
        Ok(EndedRun { measured, act, metrics, live_lost })
    }

    /// Print what the hours of `--profile=act` came to; whether one failed.
    fn print_hours(&mut self, act: Option<ActHours>) -> bool {
        let Some(verdict) = act.and_then(|mut act| act.finish()) else { return false };
        self.output.line(verdict.table.trim_end());
        verdict.failures.iter().for_each(|line| self.output.error(line));
        !verdict.failures.is_empty()
    }

    /// Data of jobs that could not be written back after the run.
    fn print_write_back_errors(&self, measured: &Measured) {
        let program = self.personality.program();
        let lost = measured.outcome.seen.iter().flat_map(RunSeen::write_back_errors);
        for (job, why) in lost {
            print_error(&format!("{program}: job {}: {why}", measured.plan.jobs[job].name));
        }
    }

    /// The report that is printed here; of several hosts one prints that of all.
    fn report(
        &mut self,
        measured: &Measured,
        host: &mut Option<&mut dyn HostPart>,
    ) -> Result<Option<Report>, Vec<String>> {
        let mut report = measured.report();
        let Some(host) = host else { return Ok(Some(report)) };
        report.ours.host = Some(Box::new(host.stamp(&measured.plan, &measured.outcome)));
        host.report(report, self.output).map_err(|why| vec![why])
    }

    /// Write the page and the metrics: an error for each output that is not whole.
    fn finish_outputs(
        &self,
        report: &Report,
        metrics: Option<MetricsOutputs>,
        live_lost: Option<std::io::Error>,
    ) -> Result<(), Vec<String>> {
        let page = html_page::write(&self.flags.output, report);
        let metrics = metrics.map_or(Ok(()), |metrics| metrics.finish(report));
        let live = live_lost.map(|error| format!("--live=json: objects are lost: {error}"));
        let lost: Vec<String> = [page.err(), metrics.err(), live].into_iter().flatten().collect();
        if lost.is_empty() { Ok(()) } else { Err(lost) }
    }

    /// The exit code, of judged hours and of `--strict` too.
    fn judged_code(&self, code: u8, hours_failed: bool, report: &Report) -> u8 {
        match code {
            exit::OK if hours_failed => exit::failed(1),
            exit::OK if self.flags.run.strict && is_misleading(report) => exit::MISLEADING,
            exit::OK if self.flags.run.strict && is_unknown(report) => exit::UNKNOWN,
            code => code,
        }
    }

    /// Say what could not be written, or done once the trigger had fired; the exit code.
    fn print_lost_logs(&mut self, outcome: &RunOutcome) -> u8 {
        let program = self.personality.program();
        let mut code = exit::OK;
        if let Err((path, error)) = &outcome.bandwidth_log {
            self.output.error(&format!("{program}: cannot write {}: {error}", path.display()));
            code = exit::REFUSED;
        }
        if let Some(words) = &outcome.trigger_failed {
            self.output.error(&format!("{program}: {words}"));
        }
        code
    }
}

/// Whether a finding is more than a note.
fn is_misleading(report: &Report) -> bool {
    let ledger = report.ours.ledger.as_ref();
    ledger.is_some_and(|ledger| ledger.verdict.iter().any(|f| f.severity > Severity::Note))
}

/// Whether signals that the verdict needs were missing.
fn is_unknown(report: &Report) -> bool {
    let ledger = report.ours.ledger.as_ref();
    ledger.is_some_and(|ledger| !ledger.unknown_statements().is_empty())
}

fn exit_code(measured: &Measured) -> u8 {
    let outcome = &measured.outcome;
    if outcome.signal.is_some() {
        return exit::SIGNALLED;
    }
    let failed = outcome.results.iter().flatten().filter(|result| result.error.is_some());
    exit::failed(failed.count())
}
