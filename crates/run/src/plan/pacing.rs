//! From a job's options to how fast it goes, and what it must keep to.

use crate::job::JobPlan;
use crate::job::{FloorPlan, FlowPlan, PacePlan, PausePlan, TargetPlan};
use iosonde_base::{DIRS, Dir, Nanos, PerDir};
use iosonde_engine::{FlowGroup, PauseEvery};
use iosonde_spec::JobSpec;
use iosonde_spec::values::{RateProcess, ThinkBlocksType};
use iosonde_workload::{Cap, PaceSpec, Process};
use std::collections::HashMap;
use std::sync::Arc;

/// `rate`, `rate_iops`, `rate_process`.
pub(super) fn pace(spec: &JobSpec) -> PaceSpec {
    let rate = &spec.rate;
    let caps = DIRS.map(|dir| match (rate.rate.get().of(dir).0, *rate.rate_iops.get().of(dir)) {
        (0, 0) => Cap::Free,
        (0, ios) => Cap::Ios(ios.into()),
        (bytes, _) => Cap::Bytes(bytes),
    });
    let process = match rate.rate_process.get() {
        RateProcess::Linear => Process::Even,
        RateProcess::Poisson => Process::Poisson,
    };
    PaceSpec { caps: PerDir(caps), process }
}

/// Directions with response times: those that have a pace.
pub(super) fn responses(spec: &JobSpec) -> PerDir<bool> {
    PerDir(pace(spec).caps.0.map(Cap::is_set))
}

/// Everything a job keeps to besides its rates.
pub(super) fn plan(spec: &JobSpec) -> PacePlan {
    let goal = &spec.latency_goal;
    let target = *goal.latency_target.get();
    PacePlan {
        recorded: false,
        pause: pause(spec),
        flow: flow(spec),
        max_latency: (*goal.max_latency.get()).per_dir(),
        target: (target > Nanos(0)).then(|| TargetPlan {
            target,
            window: *goal.latency_window.get(),
            percentile: *goal.latency_percentile.get(),
            goes_on: *goal.latency_run.get(),
        }),
        floors: floors(spec),
    }
}

/// `thinktime` and its kin. By time alone if only time is named, as in fio.
fn pause(spec: &JobSpec) -> Option<PausePlan> {
    let think = &spec.think;
    let (length, cycles) = (*think.thinktime.get(), *think.thinkcycles.get());
    if length == Nanos(0) && cycles == 0 {
        return None;
    }
    let after = Some(*think.thinktime_iotime.get()).filter(|after| *after > Nanos(0));
    let blocks = u64::from(*think.thinktime_blocks.get());
    let every = match think.thinktime_blocks_type.get() {
        _ if after.is_some() && (!think.thinktime_blocks.is_set() || blocks == 0) => {
            PauseEvery::Never
        }
        ThinkBlocksType::Complete => PauseEvery::Completed(blocks.max(1)),
        ThinkBlocksType::Issue => PauseEvery::Issued(blocks.max(1)),
    };
    let shifts_pace = *spec.rate.rate_ignore_thinktime.get();
    Some(PausePlan { length, spin: *think.thinktime_spin.get(), cycles, every, after, shifts_pace })
}

fn flow(spec: &JobSpec) -> Option<FlowPlan> {
    let flow = &spec.flow;
    let weight = *flow.flow.get();
    (weight > 0).then(|| FlowPlan {
        id: *flow.flow_id.get(),
        weight,
        sleep: Nanos::from_micros((*flow.flow_sleep.get()).into()),
        group: Arc::default(),
    })
}

/// Floors of the directions that the job has: nothing comes of the others.
fn floors(spec: &JobSpec) -> FloorPlan {
    let rate = &spec.rate;
    let kept = moved(spec);
    FloorPlan {
        bytes: PerDir(DIRS.map(|dir| if kept[dir] { rate.rate_min.get().of(dir).0 } else { 0 })),
        ios: PerDir(DIRS.map(|dir| if kept[dir] { *rate.rate_iops_min.get().of(dir) } else { 0 })),
        cycle: rate.rate_cycle.get().nanos(),
    }
}

/// The directions in which the job does I/O.
fn moved(spec: &JobSpec) -> PerDir<bool> {
    let mut dirs = spec.dirs();
    if dirs[Dir::Read] && dirs[Dir::Write] {
        let reads = *spec.order.rwmixread.get();
        (dirs[Dir::Read], dirs[Dir::Write]) = (reads > 0, reads < 100);
    }
    dirs
}

/// Jobs of one `flow_id` share one count.
pub(super) fn share_flows(jobs: &mut [JobPlan]) {
    let mut groups: HashMap<u32, Arc<FlowGroup>> = HashMap::new();
    for flow in jobs.iter_mut().filter_map(|job| job.pace.flow.as_mut()) {
        flow.group = groups.entry(flow.id).or_default().clone();
    }
}
