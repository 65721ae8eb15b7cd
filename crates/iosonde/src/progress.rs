//! What is printed while jobs run: the opening lines, the status line, errors as
//! they occur, interim reports.

use crate::live::share::progress;
use crate::live::{LONG_S, LiveMode, LiveShow};
use crate::metrics::MetricsOutputs;
use crate::output::ReportOutput;
use crate::profiles::ActHours;
use crate::report_formats::prints_documents_only;
use crate::report_formats::{is_document, text};
use iosonde_base::{DIRS, Dir, Nanos, PerDir};
use iosonde_report::formats::{Opening, opening_lines, starting_line};
use iosonde_report::live::{JobState, Status, StatusRate, fio_status_line, native_status_line};
use iosonde_run::account::{ReportContext, idle, report};
use iosonde_run::conductor::{JobSnapshot, Observer, OtherHosts, RunEvent, RunView};
use iosonde_run::job::{JobPlan, Plan};
use iosonde_run::worker::{JobResult, JobStage};
use iosonde_session::Personality;
use iosonde_session::ReadyRun;
use iosonde_spec::cli::flags::{Flags, ShowWhen};
use iosonde_sys::standard_output::print;
use iosonde_sys::terminal::line_columns;
use iosonde_workload::Cap;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Columns of a line in a log.
const PLAIN_COLUMNS: usize = 120;

/// Prints the progress of a run.
pub struct RunProgress<'a> {
    personality: Personality,
    flags: &'a Flags,
    plan: &'a Arc<Plan>,
    ready: &'a ReadyRun<'a>,
    output: &'a mut ReportOutput,
    /// The counts of the previous status line, to compute rates.
    last: Option<(Nanos, PerDir<u64>, PerDir<u64>)>,
    /// Characters of the line on the screen.
    drawn: usize,
    /// When a line was last kept on the screen (`--eta-newline`).
    new_line: Nanos,
    errors: u64,
    live: LiveShow,
    metrics: Option<&'a MetricsOutputs>,
    /// Counts reads hour by hour, for `--profile=act`.
    pub act: Option<ActHours>,
    /// Why objects of `--live=json` were lost, if they were.
    pub live_lost: Option<std::io::Error>,
}

impl<'a> RunProgress<'a> {
    /// For one run.
    pub fn new(
        personality: Personality,
        flags: &'a Flags,
        ready: &'a ReadyRun<'a>,
        output: &'a mut ReportOutput,
        live: LiveShow,
        metrics: &'a Option<MetricsOutputs>,
    ) -> RunProgress<'a> {
        RunProgress {
            personality,
            flags,
            plan: &ready.plan,
            ready,
            output,
            last: None,
            drawn: 0,
            new_line: Nanos(0),
            errors: 0,
            live,
            metrics: metrics.as_ref(),
            act: None,
            live_lost: None,
        }
    }

    /// Print the opening lines.
    pub fn begin(&mut self) {
        if self.personality != Personality::Fio {
            return;
        }
        let jobs = &self.plan.jobs;
        let first = |at: usize| at == 0 || jobs[at - 1].section != jobs[at].section;
        let openings: Vec<Opening> =
            (0..jobs.len()).filter(|&at| first(at)).map(|at| opening(jobs, at)).collect();
        let mut lines = opening_lines(&openings, iosonde_run::FIO_VERSION);
        // fio's line counts threads and processes as requested; here both are threads.
        let threads = self.plan.jobs.iter().filter(|job| job.reporting.is_thread).count() as u32;
        lines.push_str(&starting_line(threads, self.plan.jobs.len() as u32 - threads));
        self.output.line(lines.trim_end_matches('\n'));
    }

    /// As with fio, nothing is printed beside a document on standard output.
    fn shows_line(&self) -> bool {
        self.output.allows_status_line()
            && match (self.personality, self.flags.live.eta) {
                (Personality::Native, _) => {
                    matches!(self.live.mode, LiveMode::Line | LiveMode::Plain)
                }
                (Personality::Fio, ShowWhen::Always) => true,
                (Personality::Fio, ShowWhen::Never) => false,
                (Personality::Fio, ShowWhen::Auto) => std::io::stdout().is_terminal(),
            }
    }

    /// Bytes and I/Os per second since this was last asked; of directions that jobs use.
    fn rates(&mut self, snapshots: &[JobSnapshot], elapsed: Nanos) -> [PerDir<Option<u64>>; 2] {
        let bytes =
            PerDir(DIRS.map(|dir| snapshots.iter().map(|snapshot| snapshot.bytes[dir]).sum()));
        let ios = PerDir(DIRS.map(|dir| snapshots.iter().map(|snapshot| snapshot.ios[dir]).sum()));
        let used = |dir: Dir| self.plan.jobs.iter().any(|job| job.dirs[dir]);
        let rates = |now: &PerDir<u64>, then: &PerDir<u64>, seconds: f64| {
            PerDir(DIRS.map(|dir| {
                used(dir).then(|| (now[dir].saturating_sub(then[dir]) as f64 / seconds) as u64)
            }))
        };
        let both = match &self.last {
            Some((then, bytes_then, ios_then)) => {
                let seconds = elapsed.since(*then).secs_f64().max(1e-3);
                [rates(&bytes, bytes_then, seconds), rates(&ios, ios_then, seconds)]
            }
            None => {
                let none = PerDir::default();
                let seconds = elapsed.secs_f64().max(1e-3);
                [rates(&bytes, &none, seconds), rates(&ios, &none, seconds)]
            }
        };
        self.last = Some((elapsed, bytes, ios));
        both
    }

    fn draw(&mut self, snapshots: &[JobSnapshot], elapsed: Nanos, others: Option<&OtherHosts>) {
        let [mut bytes_per_s, mut iops] = self.rates(snapshots, elapsed);
        let mut running = snapshots.iter().filter(|job| job.state.is_running()).count() as u32;
        let mut open_files: u32 = snapshots.iter().map(|job| job.open_files).sum();
        if let Some(others) = others {
            running = running.saturating_add(others.running);
            open_files = open_files.saturating_add(others.open_files);
            for dir in DIRS {
                let sum = |own: u64, others: f64| own.saturating_add(others as u64);
                bytes_per_s[dir] = bytes_per_s[dir].map(|own| sum(own, others.bytes_per_s[dir]));
                iops[dir] = iops[dir].map(|own| sum(own, others.iops[dir]));
            }
        }
        let progress = progress(self.plan, snapshots, elapsed);
        let status = Status {
            running,
            open_files,
            hosts: others.map(|others| (others.heard + 1, others.hosts + 1)),
            rate: rate(self.plan, snapshots),
            states: self
                .plan
                .jobs
                .iter()
                .zip(snapshots)
                .map(|(job, snapshot)| state(job, snapshot))
                .collect(),
            done: progress.map(|(done, _)| done),
            bytes_per_s,
            iops,
            eta_s: progress.map(|(_, left)| left),
            elapsed_s: elapsed.millis() / 1000,
            p99_ns: None,
            errors: self.errors,
            units: self.plan.jobs[0].reporting.units,
        };
        let line = match self.personality {
            _ if self.live.mode == LiveMode::Plain => {
                return print(&format!("{}\n", native_status_line(&status, PLAIN_COLUMNS)));
            }
            Personality::Fio => fio_status_line(&status),
            Personality::Native => native_status_line(&status, line_columns(io::stdout())),
        };
        let width = line.chars().count();
        let blank = self.drawn.saturating_sub(width);
        self.drawn = width;
        self.output.draw_status(&format!("{line}{}", " ".repeat(blank)));
        if let Some(every) = self.flags.live.eta_newline_ms.map(Nanos::from_millis)
            && elapsed.since(self.new_line) >= every
        {
            self.new_line = elapsed;
            self.output.keep_status();
            self.drawn = 0;
        }
    }

    /// End the status line, so that what follows begins a new line; take the
    /// screen away until the event has been dealt with.
    fn clear(&mut self) {
        self.live.hold();
        if self.drawn > 0 {
            match self.personality {
                Personality::Fio => self.output.keep_status(),
                Personality::Native => self.output.draw_status(&" ".repeat(self.drawn)),
            }
            self.drawn = 0;
        }
    }

    /// Before a report. fio's text begins with an empty line, which ends the status line.
    fn clear_for_report(&mut self) {
        let text_first = !self.flags.output.formats.iter().any(|&format| is_document(format));
        let below =
            self.output.is_on_status_stream() && text_first && !self.flags.output.append_terse;
        match self.personality {
            Personality::Fio if below => self.drawn = 0,
            _ => self.clear(),
        }
    }

    fn finished(&mut self, job: &JobPlan, result: &JobResult) {
        self.warn(job, result);
        let Some(error) = &result.error else { return };
        self.errors += 1;
        self.clear();
        let errno = error.failure.errno.0;
        let name = self.personality.program();
        match self.personality {
            Personality::Fio => {
                let text = error.failure.errno;
                self.output.error(&format!("{name}: job {}: {error}", job.name));
                self.output.error(&format!(
                    "{name}: pid={}, err={errno}/func={}, error={text}",
                    result.thread_id,
                    error.failure.doing.replace(' ', "_"),
                ));
            }
            Personality::Native => self.output.error(&format!("{name}: job {}: {error}", job.name)),
        }
    }

    /// Say what a job left undone, such as writes that were not checked, or that it did no
    /// I/O at all, and why: its zeroes are no result. Our own report says so itself; called as
    /// fio, nothing that fio does not say is beside a document, which has it under
    /// `iosonde.diagnostics`.
    fn warn(&mut self, job: &JobPlan, result: &JobResult) {
        let is_printed = match self.personality {
            Personality::Native => !self.flags.output.formats_given,
            Personality::Fio => prints_documents_only(&self.flags.output),
        };
        if is_printed {
            return;
        }
        let idle = idle(job, result).filter(|_| result.error.is_none());
        let name = self.personality.program();
        for line in result.notes.iter().chain(&idle) {
            self.clear();
            self.output.error(&format!("{name}: warning: {line}"));
        }
    }

    fn begin_live(&mut self, view: &RunView) {
        if let Err(error) = self.live.begin(self.plan, view) {
            let name = self.personality.program();
            self.output.error(&format!("{name}: cannot show the run: {error}"));
        }
    }

    fn interim(&mut self, results: &[Option<JobResult>]) {
        self.clear_for_report();
        let context =
            ReportContext { disks: self.ready.disks.used(), ..self.ready.context.clone() };
        let report = report(self.plan, results, &context);
        self.output.report(&text(self.personality, &self.flags.output, &report));
        self.output.publish();
    }
}

impl Observer for RunProgress<'_> {
    fn see(&mut self, event: &RunEvent<'_>) {
        if let Some(metrics) = self.metrics {
            metrics.see(event);
        }
        match event {
            RunEvent::Begun { view } => {
                self.begin_live(view);
                if let Some(act) = &mut self.act {
                    act.begin(view, self.plan.jobs.len());
                }
            }
            RunEvent::LayingOut { job, missing } => {
                self.clear();
                let (files, total) =
                    if missing.files == 1 { ("file", "") } else { ("files", "total ") };
                self.output.line(&format!(
                    "{}: Laying out IO {files} ({} {files} / {total}{}MiB)",
                    job.name,
                    missing.files,
                    missing.bytes >> 20
                ));
            }
            RunEvent::WaveStarted { .. } => {}
            RunEvent::Tick { snapshots, elapsed, others } => {
                if self.shows_line() {
                    self.draw(snapshots, *elapsed, others.as_ref());
                }
            }
            RunEvent::JobFinished { job, result } => self.finished(job, result),
            RunEvent::Stopping { signal } => {
                self.clear();
                let name = self.personality.program();
                self.output.note(&format!("\n{name}: terminating on signal {signal}"));
            }
            RunEvent::AccountAsked { results } => self.interim(results),
            RunEvent::ErrorTolerated { job, error } => {
                self.clear();
                let name = self.personality.program();
                self.output.error(&format!("{name}: job {}: {error}", job.name));
            }
            RunEvent::WrongBlock { lines, .. } => {
                self.clear();
                lines.iter().for_each(|line| self.output.error(line));
            }
            RunEvent::Ended => {
                self.live_lost = self.live.end().err();
                self.clear_for_report();
            }
        }
        self.live.release();
    }

    fn every(&self) -> Option<Duration> {
        let every_ms = match self.live.mode {
            LiveMode::Plain => self.flags.live.eta_newline_ms.unwrap_or(LONG_S * 1000),
            _ => self.flags.live.eta_interval_ms,
        };
        self.shows_line().then(|| Duration::from_millis(every_ms))
    }

    fn account_every(&self) -> Option<Duration> {
        self.flags.output.status_interval_ms.map(Duration::from_millis)
    }

    /// fio's, where fio looks for it.
    fn account_file(&self) -> Option<PathBuf> {
        let directory = ["TMPDIR", "TEMP"].into_iter().find_map(std::env::var_os);
        let directory = directory.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        (self.personality == Personality::Fio).then(|| directory.join("fio-dump-status"))
    }
}

/// The section that begins with job number `at`.
fn opening(jobs: &[JobPlan], at: usize) -> Opening {
    let job = &jobs[at];
    Opening {
        clones: jobs.iter().filter(|other| other.section == job.section).count() as u32,
        name: job.name.clone(),
        group: job.group,
        rw: job.reporting.rw.clone(),
        block_bytes: job.reporting.sizes.map(|(least, most)| (least.into(), most.into())),
        bs_is_seq_rand: job.source.bs_is_seq_rand,
        engine: job.engine.name.to_owned(),
        depth: job.reporting.depth_asked,
        units: job.reporting.units,
        significant_figures: job.reporting.significant_figures,
    }
}

fn state(job: &JobPlan, snapshot: &JobSnapshot) -> JobState {
    let random = job.source.directions.random;
    match snapshot.state {
        JobStage::Waiting => JobState::Pending,
        JobStage::Opening => JobState::Created,
        JobStage::Ready => JobState::Initialized,
        JobStage::Ramping => JobState::Ramping,
        JobStage::Syncing => JobState::Syncing,
        JobStage::Verifying => JobState::Verifying,
        JobStage::Finished => JobState::Reaped,
        JobStage::Running => match (job.dirs[Dir::Read], job.dirs[Dir::Write], job.dirs[Dir::Trim])
        {
            (true, true, _) if random => JobState::RandomMixing,
            (true, true, _) => JobState::Mixing,
            (true, ..) if random => JobState::RandomReading,
            (true, ..) => JobState::Reading,
            (_, true, _) if random => JobState::RandomWriting,
            (_, true, _) => JobState::Writing,
            _ if random => JobState::RandomTrimming,
            _ => JobState::Trimming,
        },
    }
}

/// The rate limits of the jobs that have not ended, added up; in bytes if any limits bytes.
fn rate(plan: &Plan, snapshots: &[JobSnapshot]) -> Option<StatusRate> {
    let mut bytes = (0u64, 0u64);
    let mut ios = (0u64, 0u64);
    let live = plan
        .jobs
        .iter()
        .zip(snapshots)
        .filter(|(_, snapshot)| snapshot.state != JobStage::Finished);
    for (job, _) in live {
        for dir in DIRS.into_iter().filter(|&dir| job.dirs[dir]) {
            bytes.0 = bytes.0.saturating_add(job.pace.floors.bytes[dir]);
            ios.0 = ios.0.saturating_add(job.pace.floors.ios[dir].into());
            match job.source.pace.caps[dir] {
                Cap::Free => {}
                Cap::Bytes(cap) => bytes.1 = bytes.1.saturating_add(cap),
                Cap::Ios(cap) => ios.1 = ios.1.saturating_add(cap),
            }
        }
    }
    match (bytes, ios) {
        (_, (least, most)) if bytes == (0, 0) => {
            (most > 0 || least > 0).then_some(StatusRate::Ios(least, most))
        }
        ((least, most), _) => Some(StatusRate::Bytes(least, most)),
    }
}
