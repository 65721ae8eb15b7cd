//! Reads the counters at each interval, to find out when jobs are steady.

use super::steady_state::{Counted, SteadyWindow};
use crate::control::{JobStage, Shared};
use crate::job::{JobId, Plan, SteadyPlan};
use iosonde_base::DIRS;
use iosonde_report::SteadyResult;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long to wait before looking again for jobs that have not begun.
const NOT_YET: Duration = Duration::from_millis(10);

/// A job that is watched for a steady state, or the jobs of a group together.
#[derive(Debug)]
pub(crate) struct SteadyWatch {
    /// The jobs; the state is reported with the last of them.
    pub jobs: Vec<JobId>,
    plan: SteadyPlan,
    window: SteadyWindow,
    began: Option<Instant>,
    due: Option<Instant>,
}

impl SteadyWatch {
    /// All watches of a plan.
    pub fn all(plan: &Plan) -> Vec<SteadyWatch> {
        let mut watches: Vec<SteadyWatch> = Vec::new();
        let mut groups: Vec<(u32, usize)> = Vec::new();
        for (id, job) in plan.jobs.iter().enumerate() {
            let Some(steady) = job.time.steady else { continue };
            let joins =
                |(group, _): &&(u32, usize)| job.reporting.group_reporting && *group == job.group;
            if let Some(&(_, at)) = groups.iter().find(joins) {
                watches[at].jobs.push(id);
                continue;
            }
            if job.reporting.group_reporting {
                groups.push((job.group, watches.len()));
            }
            watches.push(SteadyWatch {
                jobs: vec![id],
                plan: steady,
                window: SteadyWindow::new(steady),
                began: None,
                due: Some(Instant::now()),
            });
        }
        watches
    }

    /// When to look next; `None` for no more.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether the result is reported with this job.
    pub fn is_reported_with(&self, job: JobId) -> bool {
        self.jobs.last() == Some(&job)
    }

    /// For the report.
    pub fn result(&self) -> SteadyResult {
        self.window.result()
    }

    /// Look, if it is time; whether the jobs are steady and shall end.
    pub fn look(&mut self, now: Instant, shared: &[Arc<Shared>]) -> bool {
        if self.due.is_none_or(|due| now < due) {
            return false;
        }
        let states = || self.jobs.iter().map(|&job| shared[job].state());
        if states().all(|state| state == JobStage::Finished) {
            self.due = None;
            return false;
        }
        let Some(began) = self.began else {
            let counts = |state| {
                matches!(
                    state,
                    JobStage::Running
                        | JobStage::Syncing
                        | JobStage::Verifying
                        | JobStage::Finished
                )
            };
            self.due = Some(now + NOT_YET);
            if states().all(counts) {
                self.began = Some(now);
                self.due = Some(now + Duration::from_nanos(self.plan.ramp.0));
            }
            return false;
        };
        let counted = self.counted(shared);
        let since = now.saturating_duration_since(began).as_nanos() as u64;
        if self.window.look(since, counted) {
            self.due = None;
            return true;
        }
        // From when it was due, so that being late once does not shift the rest.
        let interval = Duration::from_nanos(self.plan.interval.0.max(1));
        let next = self.due.unwrap_or(now) + interval;
        self.due = Some(if next > now { next } else { now + interval });
        false
    }

    fn counted(&self, shared: &[Arc<Shared>]) -> Counted {
        let mut all = Counted::default();
        for &job in &self.jobs {
            for dir in DIRS {
                let lane = shared[job].counters.lane(dir);
                let latency = lane.clat.snapshot();
                all.ios += lane.ios.get();
                all.bytes += lane.bytes.get();
                all.latencies += latency.n;
                all.latency_ns += latency.sum;
            }
        }
        all
    }
}
