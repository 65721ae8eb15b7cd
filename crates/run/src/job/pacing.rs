//! What holds one job back, decided: from plain data to what its loop keeps to.

use iosonde_base::{Nanos, PerDir};
use iosonde_engine::{FlowGroup, FlowShare, LatencyBounds, Pacing, Pause, PauseEvery};
use iosonde_sys::clock::Clock;
use iosonde_workload::{Pace, SourceSpec};
use std::sync::Arc;

/// Pace of a job besides its source. The rates themselves are the
/// source's ([`SourceSpec::pace`]), which plans by them.
#[derive(Clone, Debug, Default)]
pub struct PacePlan {
    /// Its recording's own moments (`read_iolog`); its source has no rates then.
    pub recorded: bool,
    /// Pauses between I/Os.
    pub pause: Option<PausePlan>,
    /// Its share among jobs of one flow.
    pub flow: Option<FlowPlan>,
    /// `max_latency`; zero for none.
    pub max_latency: PerDir<Nanos>,
    /// The search for a depth.
    pub target: Option<TargetPlan>,
    /// Rates below which it fails.
    pub floors: FloorPlan,
}

/// `thinktime` and similar options.
#[derive(Clone, Copy, Debug)]
pub struct PausePlan {
    /// How long, spinning included.
    pub length: Nanos,
    /// How much of that is spun.
    pub spin: Nanos,
    /// `thinkcycles`.
    pub cycles: u32,
    /// After how many I/Os.
    pub every: PauseEvery,
    /// After how long, if time counts.
    pub after: Option<Nanos>,
    /// `rate_ignore_thinktime`.
    pub shifts_pace: bool,
}

/// `flow`, `flow_id`, `flow_sleep`.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Which flow.
    pub id: u32,
    /// What the job counts for in it.
    pub weight: u32,
    /// How long it sleeps before it asks again.
    pub sleep: Nanos,
    /// What the jobs of the flow have in common.
    pub group: Arc<FlowGroup>,
}

/// `latency_target` and similar options.
#[derive(Clone, Copy, Debug)]
pub struct TargetPlan {
    /// The latency to stay below.
    pub target: Nanos,
    /// How long a depth is tried.
    pub window: Nanos,
    /// The share of I/Os that must stay below, in percent.
    pub percentile: f64,
    /// Go on once the depth is found.
    pub goes_on: bool,
}

/// `rate_min`, `rate_iops_min`, `rate_cycle`; zero for no floor.
#[derive(Clone, Copy, Debug, Default)]
pub struct FloorPlan {
    /// Bytes per second.
    pub bytes: PerDir<u64>,
    /// I/Os per second.
    pub ios: PerDir<u32>,
    /// Over how long they are judged.
    pub cycle: Nanos,
}

impl PacePlan {
    /// What the loop keeps to, if anything.
    pub fn pacing(&self, source: &SourceSpec, clock: &Clock) -> Option<Box<Pacing>> {
        let second = clock.ns_to_ticks(1_000_000_000);
        let pace = source
            .pace
            .is_set()
            .then(|| Pace::new(&source.pace, second, source.randseed, source.thread_number));
        let bounds = self.bounds();
        let held = bounds.is_some() || self.pause.is_some() || self.flow.is_some();
        if pace.is_none() && !self.recorded && !held {
            return None;
        }
        let mut pacing = if self.recorded { Pacing::recorded(*clock) } else { Pacing::new(pace) };
        if let Some(plan) = &self.pause {
            let PausePlan { length, spin, cycles, every, after, shifts_pace } = *plan;
            let after_ticks = after.map(|after| clock.ns_to_ticks(after.0));
            let mut pause = Pause::new(length);
            (pause.spin, pause.cycles, pause.every) = (spin, cycles, every);
            (pause.after_ticks, pause.shifts_pace) = (after_ticks, shifts_pace);
            pacing = pacing.pausing(pause);
        }
        if let Some(FlowPlan { weight, sleep, group, .. }) = &self.flow {
            pacing = pacing.sharing(FlowShare::new(group.clone(), *weight, *sleep));
        }
        if let Some(bounds) = bounds {
            pacing = pacing.bounded(bounds);
        }
        Some(Box::new(pacing))
    }

    fn bounds(&self) -> Option<LatencyBounds> {
        let most =
            PerDir(self.max_latency.0.map(|most| if most.0 == 0 { u64::MAX } else { most.0 }));
        if self.target.is_none() && most == PerDir::all(u64::MAX) {
            return None;
        }
        let bounds = LatencyBounds::new(most);
        Some(match self.target {
            // At 100 % the first slow one has settled the matter.
            Some(plan) => bounds.counting(plan.target.0, plan.percentile >= 100.0),
            None => bounds,
        })
    }
}
