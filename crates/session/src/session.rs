//! The run itself, from top to bottom: made ready, run, measured.

use crate::ledger;
use crate::measured::Measured;
use crate::personality::Personality;
use crate::prepare::{Prepared, prepare_parsed};
use crate::run_end::RunEnd;
use crate::run_line::RunLine;
use crate::settings::{fingerprint, settings};
use crate::watch::{StopFlag, Watch};
use crate::work::{DeviceAccess, RunRules, Work};
use iosonde_run::account::cpu_idle::{IdleDetail, IdleProfile};
use iosonde_run::account::disks::WatchedDisks;
use iosonde_run::account::{ReportContext, ending};
use iosonde_run::conductor::{Observer, Peers, conduct_among, signals};
use iosonde_run::evidence;
use iosonde_run::job::Plan;
use iosonde_run::preflight::write_access::{self, WriteAccess};
use iosonde_run::preflight::{open_files, unasked};
use iosonde_spec::cli::Parsed;
use iosonde_spec::cli::flags::{OutputFlags, OutputFormat};
use iosonde_sys::files::status;
use iosonde_sys::guard::WriteRefusal;
use iosonde_sys::standard_error;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Runs jobs: one time, or many times until a signal comes.
#[derive(Clone, Debug, Default)]
pub struct Session {
    stop: StopFlag,
    /// Files that runs of this session made: the next may extend and overwrite them.
    made: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Warnings of data that is lost, each printed once.
    named: Arc<Mutex<BTreeSet<String>>>,
    /// It has prepared jobs as one of many runs.
    prepared_before: Arc<OnceLock<()>>,
}

impl Session {
    /// One that hears signals between runs too, for callers with several.
    ///
    /// # Errors
    /// The system does not let us listen.
    pub fn listening() -> Result<Session, RunEnd> {
        let flag = Some(signals::stop_flag().map_err(deaf)?);
        Ok(Session { stop: StopFlag { flag }, ..Session::default() })
    }

    /// Whether a signal asks for the end.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }

    /// Wait, but not beyond a signal.
    pub fn wait(&self, span: Duration) {
        let end = Instant::now() + span;
        while Instant::now() < end && !self.is_stopped() {
            std::thread::sleep(Duration::from_millis(50).min(span));
        }
    }

    /// Run jobs of which all must succeed.
    ///
    /// # Errors
    /// They may not run, a job fails, or a signal comes.
    pub fn measure(
        &self,
        work: Work,
        rules: &RunRules<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Measured, RunEnd> {
        let ready = self.open(work, rules)?;
        if let Some(limit) = &ready.limit {
            return Err(RunEnd::failed(limit));
        }
        ready.run(observer, None)?.complete()
    }

    /// Run typed jobs, of which all must succeed, as one of many runs: the report is made
    /// for JSON, and `line` shows how far they are.
    ///
    /// # Errors
    /// They may not run, a job fails, or a signal comes.
    pub fn measure_typed(&self, parsed: &Parsed, line: &RunLine) -> Result<Measured, RunEnd> {
        let mut parsed = parsed.clone();
        parsed.flags.output = OutputFlags {
            formats: vec![OutputFormat::JsonPlus],
            formats_given: true,
            ..OutputFlags::default()
        };
        let prepared = self.prepared(parsed)?;
        let flags = prepared.parsed.flags.clone();
        let rules = RunRules::of_flags(Personality::Native, &flags);
        let measured = self.measure(Work::Typed(Box::new(prepared)), &rules, &mut line.clone());
        line.clear();
        measured
    }

    /// Typed jobs as one of many runs has them. Files that runs before it made are not the
    /// user's, so that one of another size may extend them.
    ///
    /// # Errors
    /// They are refused.
    pub fn prepared(&self, mut parsed: Parsed) -> Result<Prepared, RunEnd> {
        let may_extend = std::mem::replace(&mut parsed.flags.jobs.extend, true);
        let mut prepared = prepare_parsed(Personality::Native, parsed)?;
        prepared.parsed.flags.jobs.extend = may_extend;
        // The set is consistent between any two statements, so a poisoned lock is sound.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let extended = unasked::extensions(&prepared.plan);
        if let Some(one) = extended.iter().find(|one| !may_extend && !made.contains(one.path)) {
            return Err(RunEnd::failed(format!("iosonde: {}", one.refusal())));
        }
        // Outputs that are there at the second run are those of the first.
        let is_first = self.prepared_before.set(()).is_ok();
        let is_the_users =
            |path: &Option<PathBuf>| path.as_ref().map_or(is_first, |path| !made.contains(path));
        let lost = prepared.data_warnings.iter().filter(|one| is_the_users(&one.path));
        lost.for_each(|one| self.name(&one.line));
        let files = prepared.plan.jobs.iter().flat_map(|job| &job.files);
        made.extend(files.filter(|file| !file.path.exists()).map(|file| file.path.clone()));
        Ok(prepared)
    }

    /// Before a caller's own plan writes to a file or device: name what is lost there, once,
    /// unless a run of this session made it.
    pub fn name_loss(&self, path: &Path, line: &str) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match status(path) {
            Err(_) => drop(made.insert(path.to_owned())),
            Ok(found) if found.is_file() && found.len() == 0 || made.contains(path) => {}
            Ok(_) => self.name(line),
        }
    }

    fn name(&self, line: &str) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if named.insert(line.to_owned()) {
            standard_error::print_line(format_args!("{line}"));
        }
    }

    /// Make a run ready: nothing has run, and nothing refuses it.
    ///
    /// # Errors
    /// A path may not be written to, or what the rules ask for cannot be had.
    pub fn open(&self, work: Work, rules: &RunRules<'_>) -> Result<ReadyRun<'_>, RunEnd> {
        let (mut plan, typed) = taken_apart(work);
        let access = leave_to_write(&plan, rules)?;
        let limit = open_files::raise(&plan).err();
        if rules.ledger && typed.is_some() {
            evidence::ask(&mut plan);
        }
        let watched = if rules.disks { WatchedDisks::under(&plan) } else { WatchedDisks::none() };
        Ok(ReadyRun {
            session: self,
            plan: Arc::new(plan),
            disks: watched,
            context: typed.as_ref().map_or_else(ReportContext::default, TypedJobs::context),
            limit,
            typed,
            idle: rules.idle.map(begin_idle).transpose()?,
            access,
            opened: Instant::now(),
        })
    }
}

/// A run that may begin. Until it is dropped nobody can mount the devices that it writes to.
pub struct ReadyRun<'s> {
    /// What runs.
    pub plan: Arc<Plan>,
    /// The disks under its files, with their counters so far.
    pub disks: WatchedDisks,
    /// What reports say besides results, as far as it is known.
    pub context: ReportContext,
    /// Why fewer files can be open at once than the jobs want.
    pub limit: Option<String>,
    session: &'s Session,
    typed: Option<TypedJobs>,
    idle: Option<(IdleProfile, IdleDetail)>,
    access: WriteAccess,
    opened: Instant,
}

impl ReadyRun<'_> {
    /// What will be lost on devices, a line for each.
    pub fn losses(&self) -> &[String] {
        &self.access.notes
    }

    /// The jobs' part of the fingerprint; empty for a plan of the caller's own.
    pub fn job_fingerprint(&self) -> String {
        self.typed.as_ref().map_or_else(String::new, |typed| fingerprint(&typed.parsed))
    }

    /// Run it, together with other hosts if there are any. A run that a signal ends and one
    /// with failed jobs are measured as far as they came.
    ///
    /// # Errors
    /// A signal came before it began, or the system does not let us listen for any.
    pub fn run(
        &self,
        observer: &mut dyn Observer,
        peers: Option<&mut dyn Peers>,
    ) -> Result<Measured, RunEnd> {
        if self.session.is_stopped() {
            return Err(RunEnd::Stopped { twice: false });
        }
        let mut watch = Watch::new(&self.session.stop, &self.disks, observer);
        let outcome = conduct_among(self.plan.clone(), &mut watch, peers).map_err(deaf)?;
        let cpu_idle = self.idle.as_ref().map(|(idle, detail)| idle.report(*detail));
        let typed = self.typed.as_ref();
        let ledger = typed.and_then(|typed| ledger::ledger(&typed.parsed, &self.plan, &outcome));
        let settings = typed.map(|typed| settings(&typed.parsed, &self.plan));
        let ending = Some(ending(&self.plan, &outcome));
        let context = ReportContext {
            disks: watch.used,
            cpu_idle,
            ledger,
            settings,
            ending,
            ..self.context.clone()
        };
        let wall = self.opened.elapsed();
        Ok(Measured { plan: self.plan.clone(), outcome, context, wall })
    }
}

/// What is known of typed jobs besides their plan.
struct TypedJobs {
    parsed: Parsed,
    diagnostics: Vec<String>,
}

impl TypedJobs {
    fn context(&self) -> ReportContext {
        ReportContext {
            global_options: ledger::global_options(&self.parsed),
            diagnostics: self.diagnostics.clone(),
            ..ReportContext::default()
        }
    }
}

fn taken_apart(work: Work) -> (Plan, Option<TypedJobs>) {
    match work {
        Work::Planned(plan) => (plan, None),
        Work::Typed(prepared) => {
            let diagnostics = prepared.diagnostics();
            let Prepared { parsed, plan, .. } = *prepared;
            (plan, Some(TypedJobs { parsed, diagnostics }))
        }
    }
}

/// Leave to write to all that the plan writes to; merged traces are written at once.
fn leave_to_write(plan: &Plan, rules: &RunRules<'_>) -> Result<WriteAccess, RunEnd> {
    write_access::outputs(plan, rules.output, rules.locked).map_err(reasons)?;
    plan.merged
        .iter()
        .try_for_each(|merged| merged.write())
        .map_err(|error| RunEnd::failed(error.to_string()))?;
    match rules.devices {
        DeviceAccess::Held => Ok(WriteAccess::default()),
        DeviceAccess::Guarded(data) => {
            write_access::devices(plan, data, rules.locked).map_err(reasons)
        }
    }
}

fn begin_idle(detail: IdleDetail) -> Result<(IdleProfile, IdleDetail), RunEnd> {
    let begun = IdleProfile::begin();
    let profile = begun.map_err(|error| RunEnd::failed(format!("idle-prof: {error}")))?;
    Ok((profile, detail))
}

fn reasons(refusals: Vec<WriteRefusal>) -> RunEnd {
    RunEnd::Failed(refusals.iter().map(ToString::to_string).collect())
}

fn deaf(error: std::io::Error) -> RunEnd {
    RunEnd::failed(format!("cannot listen for signals: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measured::document;
    use crate::prepare::parse;
    use iosonde_run::conductor::{RunEvent, Unseen};
    use iosonde_run::preflight::write_access::DeviceData;
    use std::sync::atomic::AtomicBool;

    fn typed(words: &[&str]) -> Prepared {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        prepare_parsed(Personality::Native, parse(Personality::Native, &words)).unwrap()
    }

    fn null_job() -> Prepared {
        typed(&["--name=a", "--ioengine=null", "--size=64k", "--rw=read"])
    }

    /// A job whose file is not there and is not made.
    fn lost_job() -> Prepared {
        typed(&["--name=b", "--filename=/nowhere-x", "--size=4k", "--allow_file_create=0"])
    }

    fn rules<'a>() -> RunRules<'a> {
        RunRules { disks: true, ledger: true, ..RunRules::default() }
    }

    /// One that a signal has stopped.
    fn stopped() -> Session {
        Session {
            stop: StopFlag { flag: Some(Arc::new(AtomicBool::new(true))) },
            ..Session::default()
        }
    }

    /// Names of events, in order.
    #[derive(Default)]
    struct Seen(Vec<&'static str>);

    impl Observer for Seen {
        fn see(&mut self, event: &RunEvent<'_>) {
            self.0.push(match event {
                RunEvent::Begun { .. } => "begun",
                RunEvent::JobFinished { .. } => "finished",
                RunEvent::Ended => "ended",
                RunEvent::Tick { .. } => "tick",
                _ => return,
            });
        }
    }

    #[test]
    fn jobs_have_a_ledger_and_their_settings() {
        let mut seen = Seen::default();
        let work = Work::Typed(Box::new(null_job()));
        let measured = Session::default().measure(work, &rules(), &mut seen).unwrap();
        assert_eq!(seen.0, ["begun", "finished", "ended"]);
        let report = measured.report();
        assert_eq!(report.jobs[0].dirs.0[0].io_bytes, 65536);
        assert!(report.ours.ledger.is_some() && report.ours.settings.is_some());
        assert!(document(&report).contains("\"jobname\" : \"a\""));
    }

    #[test]
    fn a_plan_of_the_callers_has_neither() {
        let work = Work::Planned(null_job().plan);
        let measured = Session::default().measure(work, &rules(), &mut Unseen).unwrap();
        let ours = measured.report().ours;
        assert!(ours.ledger.is_none() && ours.settings.is_none());
    }

    #[test]
    fn one_that_listens_gives_no_ticks_to_who_wants_none() {
        let mut seen = Seen::default();
        let session =
            Session { stop: StopFlag { flag: Some(Arc::default()) }, ..Session::default() };
        let words = ["--name=a", "--ioengine=null", "--size=4k", "--time_based", "--runtime=600ms"];
        let work = Work::Typed(Box::new(typed(&words)));
        session.measure(work, &RunRules::default(), &mut seen).unwrap();
        assert_eq!(seen.0, ["begun", "finished", "ended"]);
    }

    #[test]
    fn a_failed_job_is_the_end_of_runs_that_must_succeed() {
        let session = Session::default();
        let work = || Work::Typed(Box::new(lost_job()));
        let end = session.measure(work(), &RunRules::held(), &mut Unseen).unwrap_err();
        let RunEnd::Failed(reasons) = &end else { panic!("{end:?}") };
        assert!(
            reasons[0].starts_with("FAILED: job b: ") && reasons[0].contains("/nowhere-x"),
            "{end}"
        );
        assert!(end.about("B").to_string().starts_with("B: FAILED: job b: "));
        // Who reports failures has everything that was measured.
        let ready = session.open(work(), &RunRules::held()).unwrap();
        let measured = ready.run(&mut Unseen, None).unwrap();
        assert_eq!(measured.failed_job().map(|(name, _)| name), Some("b"));
        assert!(measured.stopped().is_none());
    }

    #[test]
    fn a_path_that_may_not_be_written_to_is_refused_before_anything_runs() {
        let words = ["--name=a", "--filename=/dev/iosonde-none", "--size=4k", "--rw=write"];
        let session = Session::default();
        let refused = session.open(Work::Planned(typed(&words).plan), &RunRules::default());
        let Err(RunEnd::Failed(reasons)) = refused else { panic!("it is not refused") };
        assert!(reasons[0].contains("/dev/iosonde-none"), "{reasons:?}");
        assert!(session.open(Work::Planned(typed(&words).plan), &RunRules::held()).is_ok());
    }

    #[test]
    fn nothing_runs_and_nobody_waits_after_a_signal() {
        let (session, mut seen) = (stopped(), Seen::default());
        let work = Work::Typed(Box::new(null_job()));
        let end = session.measure(work, &RunRules::default(), &mut seen).unwrap_err();
        assert_eq!((end, seen.0.len()), (RunEnd::Stopped { twice: false }, 0));
        session.wait(Duration::from_secs(3600));
        assert!(!Session::default().is_stopped());
    }

    #[test]
    fn flags_of_jobs_become_rules() {
        let flags = parse(Personality::Native, &["--erase=S-1".to_owned()]).flags;
        let ours = RunRules::of_flags(Personality::Native, &flags);
        assert!(ours.ledger && ours.disks && ours.idle.is_none());
        let DeviceAccess::Guarded(DeviceData::Refuse(words)) = ours.devices else {
            panic!("{ours:?}")
        };
        assert_eq!(words, ["S-1"]);
        let fio = RunRules::of_flags(Personality::Fio, &flags);
        assert!(!fio.ledger);
        assert!(matches!(fio.devices, DeviceAccess::Guarded(DeviceData::Note)));
    }
}
