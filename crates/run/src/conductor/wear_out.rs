//! The end of the time of jobs with `wear_out`: how many I/Os the fastest of all had done, on all
//! hosts.

use super::{Conductor, RunMessage};
use crate::control::{WearOut, WearOutGoal};
use crate::job::{JobId, JobPlan};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The jobs of a run at the end of their time.
#[derive(Debug, Default)]
pub(super) struct WearOuts {
    /// How many I/Os each had done that came there.
    done: Vec<Option<u64>>,
    goals: Vec<Arc<WearOutGoal>>,
    /// The wave that runs, until its jobs have been let go on.
    wave: Option<usize>,
}

impl WearOuts {
    pub fn of(jobs: usize) -> WearOuts {
        let goals = (0..jobs).map(|_| Arc::default()).collect();
        WearOuts { done: vec![None; jobs], goals, wave: None }
    }

    /// A job's end of it.
    pub fn link(&self, id: JobId, job: &JobPlan, outbox: &Sender<RunMessage>) -> Option<WearOut> {
        let outbox = outbox.clone();
        // The conductor may have given up on the job; then a stop ends its wait.
        let arrive = move |done| drop(outbox.send(RunMessage::TimeOver(id, done)));
        job.time.wear_out.then(|| WearOut::new(arrive, self.goals[id].clone()))
    }

    pub fn begin(&mut self, wave: usize) {
        self.wave = Some(wave);
    }

    pub fn arrived(&mut self, job: JobId, done: u64) {
        self.done[job] = Some(done);
    }
}

impl Conductor<'_> {
    /// Let the jobs of the wave go on once all have come to the end of their time, or have ended.
    pub(super) fn let_wear_out(&mut self, wave: &[JobId]) {
        let Some(number) = self.wear_outs.wave else { return };
        let wears_out = |job: &JobId| self.plan.jobs[*job].time.wear_out;
        let jobs: Vec<JobId> = wave.iter().copied().filter(wears_out).collect();
        let done = |&job: &JobId| {
            let ended = self.results[job].as_ref().map(|result| {
                let lanes = result.snapshot.lanes.iter();
                lanes.map(|lane| lane.ios).sum::<u64>()
            });
            self.wear_outs.done[job].or(ended)
        };
        let Some(all) = jobs.iter().map(done).collect::<Option<Vec<u64>>>() else { return };
        if jobs.is_empty() || self.signal.is_some() || self.abandoned {
            return;
        }
        self.wear_outs.wave = None;
        let most = all.into_iter().max().unwrap_or(0);
        if let Some(most) = self.most_of_all(number, most) {
            jobs.iter().for_each(|&job| self.wear_outs.goals[job].set(most));
        }
    }
}
