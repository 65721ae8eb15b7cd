//! A wave of jobs: started together, or when those they wait for have ended, and followed to
//! its end.

use super::environment::WaveEnvironment;
use super::interval::Interval;
use super::steady_watch::SteadyWatch;
use super::trigger::Trigger;
use super::{Conductor, MeetingPoint, RunEvent, RunMessage};
use crate::control::Gate;
use crate::job::{JobError, JobId};
use crate::worker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

/// How often a file is looked for that asks for an account.
const LOOK_FOR_FILE: Duration = Duration::from_millis(250);

impl Conductor<'_> {
    /// Run the jobs of a wave: at once those that wait for nobody, the others
    /// when whom they wait for has ended.
    pub(super) fn run_wave(&mut self, wave: &[JobId]) {
        let (mut pending, mut started) = (self.able(wave), Vec::new());
        let (environment, failed) = WaveEnvironment::of(&self.plan.clone(), &pending);
        for (job, error) in failed {
            self.finished(job, worker::failed_to_start(error));
        }
        self.start_able(&mut pending, &mut started, &environment);
        self.await_finished(wave, &mut pending, &mut started, &environment);
        if environment.holds_threads() && !self.abandoned {
            for thread in started.into_iter().filter_map(|job| self.threads[job].take()) {
                // As in `run`.
                let _ = thread.join();
            }
        }
    }

    /// Those of the jobs that have not ended and may start.
    fn able(&self, jobs: &[JobId]) -> Vec<JobId> {
        let able = |&job: &JobId| self.results[job].is_none() && !self.called_off[job];
        jobs.iter().copied().filter(able).collect()
    }

    /// Start those of the jobs that wait for nobody any more.
    fn start_able(
        &mut self,
        pending: &mut Vec<JobId>,
        started: &mut Vec<JobId>,
        environment: &WaveEnvironment,
    ) {
        if self.signal.is_some() {
            pending.clear();
        }
        let waits = |job: &JobId| self.waits(*job);
        let (rest, able): (Vec<JobId>, Vec<JobId>) =
            self.able(pending).into_iter().partition(waits);
        *pending = rest;
        if able.is_empty() {
            return;
        }
        let gate = Arc::new(Gate::default());
        let able = self.start(&able, &gate, environment);
        self.await_ready(&able);
        self.witness.wave_begins(&able);
        if let Some(wave) = self.peers.meets_for.take() {
            self.meet(MeetingPoint::Wave(wave));
        }
        self.first_gate = Some(gate.open(self.first_gate));
        let now = iosonde_base::time::unix_ns();
        able.iter().for_each(|&job| self.let_go[job] = Some(now));
        self.observer.see(&RunEvent::WaveStarted { jobs: &able });
        started.extend(able);
    }

    /// Whether a job it has to wait for (`wait_for`) has not ended.
    fn waits(&self, job: JobId) -> bool {
        let jobs = &self.plan.jobs;
        let Some(section) = jobs[job].coordination.waits_for else { return false };
        let others = (0..jobs.len()).filter(|&other| jobs[other].section == section);
        !self.able(&others.collect::<Vec<JobId>>()).is_empty()
    }

    fn start(
        &mut self,
        jobs: &[JobId],
        gate: &Arc<Gate>,
        environment: &WaveEnvironment,
    ) -> Vec<JobId> {
        let mut started = Vec::new();
        for &id in jobs {
            let (plan, shared, gate) = (self.plan.clone(), self.shared[id].clone(), gate.clone());
            let outbox = self.outbox.clone();
            let Some(writer) = self.writers[id].take() else { continue };
            let name: String = plan.jobs[id].name.chars().filter(|&c| c != '\0').take(15).collect();
            let group = environment.group(&plan.jobs[id]);
            let body = move || {
                let ready = || drop(outbox.send(RunMessage::Ready));
                let job = &plan.jobs[id];
                let worked = catch_unwind(AssertUnwindSafe(|| {
                    // The group is left before the result is handed over.
                    let stay = group.as_ref().map(|group| group.enter()).transpose();
                    match stay {
                        Ok(_stay) => worker::work(job, writer, &shared, &gate, ready),
                        Err(error) => {
                            ready();
                            let error = JobError::system("set cgroup", &error);
                            worker::boxed_failure(error, &shared.counters)
                        }
                    }
                }));
                let result = worked.unwrap_or_else(|panic| worker::panicked(&shared, panic));
                // The conductor may have given up on us; then nobody asks.
                let _ = outbox.send(RunMessage::Finished(id, result));
            };
            match Builder::new().name(name).spawn(body) {
                Ok(thread) => {
                    self.threads[id] = Some(thread);
                    started.push(id);
                }
                Err(error) => self.finished(id, worker::no_thread(error)),
            }
        }
        started
    }

    fn await_ready(&mut self, jobs: &[JobId]) {
        let mut waiting = jobs.len();
        while waiting > 0 {
            match self.next_message(None) {
                Some(RunMessage::Ready) => waiting -= 1,
                Some(other) => self.handle(other),
                None => {}
            }
            if self.abandoned {
                return;
            }
        }
    }

    fn await_finished(
        &mut self,
        wave: &[JobId],
        pending: &mut Vec<JobId>,
        started: &mut Vec<JobId>,
        environment: &WaveEnvironment,
    ) {
        let mut tick = Interval::new(self.observer.every());
        let mut account = Interval::new(self.observer.account_every());
        let asking = self.observer.account_file();
        let mut look = Interval::new(asking.as_ref().map(|_| LOOK_FOR_FILE));
        let runs =
            |all: &Self, started: &[JobId]| started.iter().any(|&job| all.results[job].is_none());
        while (runs(self, started) || !pending.is_empty()) && !self.abandoned {
            let steady = self.watches.iter().filter_map(SteadyWatch::due).min();
            let trigger = self.trigger.as_ref().and_then(Trigger::due);
            let until = [tick.due, account.due, look.due, steady, self.witness.due(), trigger]
                .into_iter()
                .flatten()
                .min();
            if let Some(message) = self.next_message(until) {
                self.handle(message);
            }
            if !pending.is_empty() && !self.abandoned {
                self.start_able(pending, started, environment);
            }
            if self.trigger.as_mut().is_some_and(Trigger::fires) {
                self.end_by_trigger();
            }
            self.let_wear_out(wave);
            self.look_for_steady();
            self.witness.look(&self.shared);
            self.end_those_beside(started, pending);
            if tick.is_due() {
                self.tick();
            }
            // A file that cannot be removed would ask for ever, and asks not once.
            let asked = look.is_due()
                && asking.as_ref().is_some_and(|file| std::fs::remove_file(file).is_ok());
            if account.is_due() || asked {
                self.send_account();
            }
        }
    }

    /// Jobs that do no I/O themselves end with the last that does.
    fn end_those_beside(&self, started: &[JobId], pending: &[JobId]) {
        let jobs = &self.plan.jobs;
        let does_io = |&job: &JobId| !jobs[job].engine.caps.no_io;
        let runs = |&job: &JobId| self.results[job].is_none();
        let mut doers = started.iter().filter(|job| does_io(job)).peekable();
        if doers.peek().is_none() || doers.any(runs) || pending.iter().any(does_io) {
            return;
        }
        let beside = started.iter().filter(|job| !does_io(job));
        beside.for_each(|&job| self.shared[job].control.stop());
    }
}
