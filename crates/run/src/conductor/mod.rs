//! Waves of jobs, signals, ticks: the only loop that talks to the world.
//!
//! It sleeps on one wake-up (a job is ready, a job has ended, a signal came, a
//! tick is due) and owns every decision about more than one job. No job knows
//! of another.

pub mod bandwidth_log;
mod environment;
mod files;
mod interval;
mod observer;
mod peers;
pub mod signals;
mod span;
mod steady_state;
mod steady_watch;
mod trigger;
mod view;
mod waves;
mod wear_out;

pub use crate::layout::Missing;
pub use observer::{Observer, RunEvent, Unseen};
pub use peers::{HostCounts, MeetingPoint, OtherHosts, Peers};
pub use span::JobSpan;
pub use view::{JobSnapshot, RunView};

use crate::control::{
    self, Backlog, FileLocks, JobStage, RampTally, Shared, WithOthers, WrongBlockReporter,
};
use crate::evidence::{RunSeen, Watcher};
use crate::job::{JobError, JobId, JobPlan, Plan};
use crate::layout::Added;
use crate::logs::LogWriteError;
use crate::worker::{self, JobResult};
use bandwidth_log::BandwidthLog;
use iosonde_base::Nanos;
use iosonde_spec::values::ExitWhat;
use iosonde_stats::CountersWriter;
use peers::PeerLink;
use signals::{SignalListener, SignalRequest};
use span::span;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use steady_watch::SteadyWatch;
use trigger::Trigger;
use wear_out::WearOuts;

/// How a run went.
#[derive(Debug)]
pub struct RunOutcome {
    /// Each job's result, in the order of the plan; `None` for jobs that never
    /// started because the run was stopped first.
    pub results: Vec<Option<JobResult>>,
    /// The signal that ended the run, if one did.
    pub signal: Option<i32>,
    /// A second signal came: some results are those of jobs still running.
    pub abandoned: bool,
    /// The bandwidth log that could not be written, and why.
    pub bandwidth_log: Result<(), LogWriteError>,
    /// What was seen around the jobs, if anything was to be.
    pub seen: Option<RunSeen>,
    /// The trigger fired and ended it.
    pub triggered: bool,
    /// What went wrong once the trigger had fired, if it did.
    pub trigger_failed: Option<String>,
    /// When each job counted, in the order of the plan; `None` for jobs that did not run.
    pub spans: Vec<Option<JobSpan>>,
    /// Why the other hosts ended the run, if they did.
    pub peers_ended: Option<String>,
}

enum RunMessage {
    LayingOut(JobId, Missing),
    /// With what was added for jobs that remove their files at the end.
    LaidOut(Vec<(JobId, Added)>),
    Ready,
    Tolerated(JobId, Box<JobError>),
    WrongBlock(JobId, Vec<String>),
    /// A job with `wear_out` has come to the end of its time, with so many I/Os.
    TimeOver(JobId, u64),
    Finished(JobId, Box<JobResult>),
    Signal(SignalRequest),
}

struct Conductor<'a> {
    plan: Arc<Plan>,
    observer: &'a mut dyn Observer,
    shared: Vec<Arc<Shared>>,
    writers: Vec<Option<CountersWriter>>,
    threads: Vec<Option<JoinHandle<()>>>,
    results: Vec<Option<JobResult>>,
    inbox: Receiver<RunMessage>,
    outbox: Sender<RunMessage>,
    began: Instant,
    /// When the first jobs were let go: delays count from there.
    first_gate: Option<Instant>,
    signal: Option<i32>,
    abandoned: bool,
    stop_layout: Arc<AtomicBool>,
    /// What the layout added for jobs that remove their files (`unlink`).
    added: Vec<(JobId, Added)>,
    /// Jobs that shall not start any more: another has ended them.
    called_off: Vec<bool>,
    watches: Vec<SteadyWatch>,
    wear_outs: WearOuts,
    witness: Watcher,
    trigger: Option<Trigger>,
    peers: PeerLink<'a>,
    /// When each job was let go, in nanoseconds of Unix time.
    let_go: Vec<Option<u64>>,
    spans: Vec<Option<JobSpan>>,
}

/// Run a plan to its end.
pub fn conduct(plan: Arc<Plan>, observer: &mut dyn Observer) -> std::io::Result<RunOutcome> {
    conduct_among(plan, observer, None)
}

/// Run a plan to its end, together with other hosts.
pub fn conduct_among(
    plan: Arc<Plan>,
    observer: &mut dyn Observer,
    peers: Option<&mut dyn Peers>,
) -> std::io::Result<RunOutcome> {
    let (outbox, inbox) = channel();
    let to_inbox = outbox.clone();
    let outside =
        SignalListener::listen(move |word| to_inbox.send(RunMessage::Signal(word)).is_ok())?;
    let mut conductor = Conductor::new(plan, observer, inbox, outbox);
    if peers.is_some() {
        conductor.witness.leave_stops();
    }
    conductor.peers = PeerLink::new(peers.map(|peers| peers as &mut dyn Peers));
    let bandwidth_log = match &conductor.plan.bandwidth_log {
        Some(prefix) => BandwidthLog::start(prefix, conductor.shared.clone()).map(Some),
        None => Ok(None),
    };
    let view = RunView::new(&conductor.shared, conductor.began);
    conductor.observer.see(&RunEvent::Begun { view: &view });
    conductor.run();
    conductor.record_steady();
    let elapsed = Nanos(conductor.began.elapsed().as_nanos() as u64);
    conductor.results.iter_mut().flatten().for_each(|result| result.elapsed = elapsed);
    let bandwidth_log = bandwidth_log.and_then(|log| log.map_or(Ok(()), BandwidthLog::finish));
    conductor.observer.see(&RunEvent::Ended);
    let triggered = conductor.trigger.as_ref().is_some_and(Trigger::has_fired);
    let trigger_failed = conductor.finish_trigger();
    let seen = conductor.look_back();
    drop(outside);
    Ok(RunOutcome {
        results: conductor.results,
        signal: conductor.signal,
        abandoned: conductor.abandoned,
        bandwidth_log,
        seen,
        triggered,
        trigger_failed,
        spans: conductor.spans,
        peers_ended: conductor.peers.ended,
    })
}

impl<'a> Conductor<'a> {
    fn new(
        plan: Arc<Plan>,
        observer: &'a mut dyn Observer,
        inbox: Receiver<RunMessage>,
        outbox: Sender<RunMessage>,
    ) -> Conductor<'a> {
        let wear_outs = WearOuts::of(plan.jobs.len());
        let with_others = with_others(&plan, &outbox, &wear_outs);
        let with_counters = |(job, with_others): (&JobPlan, WithOthers)| {
            let (writer, counters) = CountersWriter::new(&job.measure.latencies);
            (Some(writer), Arc::new(Shared::new(counters, job.measure.clock, with_others)))
        };
        let (writers, shared) = plan.jobs.iter().zip(with_others).map(with_counters).unzip();
        let jobs = plan.jobs.len();
        Conductor {
            called_off: vec![false; jobs],
            watches: SteadyWatch::all(&plan),
            wear_outs,
            witness: Watcher::new(&plan),
            trigger: Trigger::of(&plan),
            plan,
            observer,
            shared,
            writers,
            threads: (0..jobs).map(|_| None).collect(),
            results: (0..jobs).map(|_| None).collect(),
            inbox,
            outbox,
            began: Instant::now(),
            first_gate: None,
            signal: None,
            abandoned: false,
            stop_layout: Arc::default(),
            added: Vec::new(),
            peers: PeerLink::new(None),
            let_go: vec![None; jobs],
            spans: vec![None; jobs],
        }
    }

    fn run(&mut self) {
        let plan = self.plan.clone();
        self.lay_out();
        self.meet(MeetingPoint::LaidOut);
        for (number, wave) in plan.waves.iter().enumerate() {
            self.listen_for_signal();
            self.peers.meets_for = Some(number);
            self.wear_outs.begin(number);
            if self.signal.is_some()
                || self.peers.ended.is_some()
                || self.trigger.as_ref().is_some_and(Trigger::has_fired)
            {
                break;
            }
            self.run_wave(wave);
            self.witness.wave_ended(&self.shared, &self.results);
            if self.abandoned {
                break;
            }
        }
        if self.abandoned {
            return;
        }
        for thread in self.threads.iter_mut().filter_map(Option::take) {
            // A worker's panic was caught at its door and is in its result.
            let _ = thread.join();
        }
        self.remove_unused();
    }

    /// End all jobs, those that wait for their start too: without a check, as
    /// a later run is to check from the states that they save.
    fn end_by_trigger(&mut self) {
        self.called_off.fill(true);
        for shared in &self.shared {
            shared.triggered.store(true, Ordering::Relaxed);
            shared.control.stop();
        }
    }

    /// Once all jobs have ended: what went wrong with the trigger.
    fn finish_trigger(&mut self) -> Option<String> {
        let trigger = self.trigger.take().filter(|_| !self.abandoned)?;
        trigger.finish(&self.plan)
    }

    /// What was seen around the jobs. A signal ends looking, too.
    fn look_back(&mut self) -> Option<RunSeen> {
        let stopped = Cell::new(self.abandoned || self.signal.is_some());
        let asked =
            || matches!(self.inbox.try_recv(), Ok(RunMessage::Signal(SignalRequest::Stop(_))));
        let own = self.counts();
        let peers = RefCell::new(&mut self.peers);
        let stop = || {
            // The jobs have ended: there is nothing left for the others to end.
            let _ = peers.borrow_mut().beat(|| own);
            stopped.set(stopped.get() || asked());
            stopped.get()
        };
        let witness = std::mem::take(&mut self.witness);
        let seen = witness.finish(&self.plan, &self.results, &stop)?;
        for (result, lost) in self.results.iter_mut().zip(&seen.write_back) {
            let (Some(result), Some(lost)) = (result, lost) else { continue };
            let error = || JobError::other("write back", lost.errno, &lost.words);
            result.error.get_or_insert_with(error);
        }
        Some(seen)
    }

    /// Stop jobs that have reached a steady state.
    fn look_for_steady(&mut self) {
        let now = Instant::now();
        for watch in &mut self.watches {
            if watch.look(now, &self.shared) {
                watch.jobs.iter().for_each(|&job| self.shared[job].control.stop());
            }
        }
    }

    /// Add the steady state to the results of the jobs it is reported with.
    fn record_steady(&mut self) {
        for (job, result) in self.results.iter_mut().enumerate() {
            let Some(result) = result else { continue };
            let watch = self.watches.iter().find(|watch| watch.is_reported_with(job));
            result.steady = watch.map(SteadyWatch::result);
        }
    }

    /// What is known so far, of jobs that run as well.
    fn send_account(&mut self) {
        self.record_steady();
        let elapsed = self.began.elapsed();
        let known = |(id, result): (JobId, &Option<JobResult>)| match result {
            Some(result) => {
                let elapsed = Nanos(elapsed.as_nanos() as u64);
                Some(JobResult { elapsed, ..result.clone() })
            }
            None => self.so_far(id, elapsed),
        };
        let results: Vec<Option<JobResult>> = self.results.iter().enumerate().map(known).collect();
        self.observer.see(&RunEvent::AccountAsked { results: &results });
    }

    /// The next message, or `None` when `until` comes first.
    fn next_message(&mut self, until: Option<Instant>) -> Option<RunMessage> {
        loop {
            let message = match until.into_iter().chain(self.peers.due()).min() {
                None => self.inbox.recv().ok(),
                Some(until) => {
                    let wait = until.saturating_duration_since(Instant::now());
                    self.inbox.recv_timeout(wait).ok()
                }
            };
            let own = || HostCounts::of(&snapshots(&self.shared), since(self.began));
            self.peers.beat(own).unwrap_or_else(|why| self.end_by_peers(why));
            let is_over = until.is_none_or(|until| until <= Instant::now());
            if message.is_some() || is_over && (until.is_some() || self.peers.due().is_none()) {
                return message;
            }
        }
    }

    fn listen_for_signal(&mut self) {
        while let Ok(message) = self.inbox.try_recv() {
            self.handle(message);
        }
    }

    fn handle(&mut self, message: RunMessage) {
        match message {
            RunMessage::Ready | RunMessage::LaidOut(_) => {}
            RunMessage::LayingOut(id, missing) => {
                let job = &self.plan.jobs[id];
                self.observer.see(&RunEvent::LayingOut { job, missing });
            }
            RunMessage::Tolerated(id, error) => {
                let job = &self.plan.jobs[id];
                self.observer.see(&RunEvent::ErrorTolerated { job, error: &error });
                self.shared[id].with_others.backlog.reported();
            }
            RunMessage::WrongBlock(id, lines) => {
                let job = &self.plan.jobs[id];
                self.observer.see(&RunEvent::WrongBlock { job, lines: &lines });
            }
            RunMessage::TimeOver(job, done) => self.wear_outs.arrived(job, done),
            RunMessage::Finished(job, result) => self.finished(job, *result),
            RunMessage::Signal(SignalRequest::Account) => self.send_account(),
            RunMessage::Signal(SignalRequest::Stop(signal)) if self.signal.is_none() => {
                self.signal = Some(signal);
                self.observer.see(&RunEvent::Stopping { signal });
                self.stop_layout.store(true, Ordering::Relaxed);
                self.shared.iter().for_each(|shared| shared.control.stop());
            }
            RunMessage::Signal(SignalRequest::Stop(_)) => self.abandon(),
        }
    }

    fn finished(&mut self, job: JobId, mut result: JobResult) {
        let suppressed = self.shared[job].with_others.backlog.suppressed();
        if suppressed > 0 {
            let name = &self.plan.jobs[job].name;
            result
                .notes
                .push(format!("{suppressed} further errors of job {name} suppressed (rate limit)"));
        }
        let coordination = &self.plan.jobs[job].coordination;
        let on_failure = coordination.failure_ends.filter(|_| result.error.is_some());
        if let Some(what) = on_failure.or(coordination.end_ends) {
            self.call_off(job, what);
        }
        self.shared[job].failed.store(result.error.is_some(), Ordering::Relaxed);
        self.spans[job] = self.let_go[job].map(|ns| span(&self.plan.jobs[job], &result, ns));
        self.observer.see(&RunEvent::JobFinished { job: &self.plan.jobs[job], result: &result });
        self.results[job] = Some(result);
    }

    /// A job has ended, and others end with it (`exit_what`).
    fn call_off(&mut self, ended: JobId, what: ExitWhat) {
        let (plan, shared) = (&self.plan, &self.shared);
        let wave = plan.waves.iter().find(|wave| wave.contains(&ended));
        for (other, shared) in shared.iter().enumerate() {
            let ends = match what {
                ExitWhat::Group => plan.jobs[other].group == plan.jobs[ended].group,
                ExitWhat::Stonewall => wave.is_some_and(|wave| wave.contains(&other)),
                ExitWhat::All => true,
            };
            if ends {
                self.called_off[other] = true;
                shared.control.stop();
            }
        }
    }

    /// A second signal: whoever still runs is left to the end of the process,
    /// and what it has counted so far is its result.
    fn abandon(&mut self) {
        self.abandoned = true;
        for id in 0..self.results.len() {
            if self.results[id].is_none() {
                let result = self.so_far(id, self.began.elapsed());
                let words = "ended while it ran: these are its counts until then";
                let notes = vec![words.to_owned()];
                self.results[id] = result.map(|result| JobResult { notes, ..result });
            }
        }
    }

    /// Counts of a running job so far; `None` if it does not run.
    fn so_far(&self, id: JobId, elapsed: Duration) -> Option<JobResult> {
        let (job, shared) = (&self.plan.jobs[id], &self.shared[id]);
        (shared.state() != JobStage::Waiting).then(|| worker::so_far(job, shared, elapsed))
    }

    fn tick(&mut self) {
        let (snapshots, elapsed) = (&snapshots(&self.shared), since(self.began));
        let others = self.peers.others();
        self.observer.see(&RunEvent::Tick { snapshots, elapsed, others });
    }

    /// What the jobs of this host have done so far.
    fn counts(&self) -> HostCounts {
        HostCounts::of(&snapshots(&self.shared), since(self.began))
    }
}

fn snapshots(jobs: &[Arc<Shared>]) -> Vec<JobSnapshot> {
    jobs.iter().map(|shared| view::snapshot(shared)).collect()
}

fn since(moment: Instant) -> Nanos {
    Nanos(moment.elapsed().as_nanos() as u64)
}

/// What each job of a plan has to do with the others.
fn with_others(
    plan: &Arc<Plan>,
    outbox: &Sender<RunMessage>,
    wear_outs: &WearOuts,
) -> Vec<WithOthers> {
    let (turns, ramps) = (FileLocks::turns(plan), RampTally::all(plan));
    let lend = |(id, (turn, ramp))| {
        let backlog: Arc<Backlog> = Arc::default();
        let to_inbox = outbox.clone();
        // The conductor may have given up on the job; then nobody asks.
        let report = move |error| drop(to_inbox.send(RunMessage::Tolerated(id, Box::new(error))));
        let report_error = control::error_reporter(&plan.jobs[id], &backlog, report);
        let to_inbox = outbox.clone();
        let report = move |lines| drop(to_inbox.send(RunMessage::WrongBlock(id, lines)));
        let wrong_blocks = Some(WrongBlockReporter::new(report));
        let wear_out = wear_outs.link(id, &plan.jobs[id], outbox);
        WithOthers { turn, ramp, wear_out, report_error, backlog, wrong_blocks }
    };
    turns.into_iter().zip(ramps).enumerate().map(lend).collect()
}
