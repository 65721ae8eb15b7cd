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

/// `thinktime` and similar options. By time alone if only time is named, as in fio.
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

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_options::Origin;

    fn spec(options: &str) -> JobSpec {
        let mut spec = JobSpec::default();
        for option in options.split_whitespace() {
            let (name, value) = option.split_once('=').unwrap();
            spec.set(name, Some(value), Origin::Default).unwrap();
        }
        spec
    }

    #[test]
    fn rates_are_those_that_were_asked_for_by_direction() {
        let caps = |options| pace(&spec(options)).caps.0;
        assert_eq!(caps("rw=randrw"), [Cap::Free; 3]);
        assert_eq!(caps("rate_iops=1000"), [Cap::Ios(1000); 3]);
        assert_eq!(caps("rate_iops=1000,500")[..2], [Cap::Ios(1000), Cap::Ios(500)]);
        assert_eq!(caps("rate=4m,1m")[..2], [Cap::Bytes(4 << 20), Cap::Bytes(1 << 20)]);
        assert_eq!(caps("rate=,1m")[..2], [Cap::Free, Cap::Bytes(1 << 20)]);
        assert_eq!(pace(&spec("rate_process=poisson")).process, Process::Poisson);
        assert_eq!(pace(&spec("rate_process=linear")).process, Process::Even);
    }

    #[test]
    fn pauses_are_as_long_and_as_frequent_as_was_asked_for() {
        assert!(plan(&spec("rate_iops=5")).pause.is_none());
        let pause = |options| plan(&spec(options)).pause.unwrap();
        let counted = pause("thinktime=20ms thinktime_blocks=5 thinktime_spin=5ms");
        assert_eq!((counted.length, counted.spin), (Nanos::from_millis(20), Nanos::from_millis(5)));
        assert_eq!(counted.every, PauseEvery::Completed(5));
        assert!(!counted.shifts_pace);
        let issued = pause("thinktime=1 thinktime_blocks=8 thinktime_blocks_type=issue");
        assert_eq!(issued.every, PauseEvery::Issued(8));
        let timed = pause("thinktime=1ms thinktime_iotime=2ms rate_ignore_thinktime=1");
        assert_eq!((timed.every, timed.after), (PauseEvery::Never, Some(Nanos::from_millis(2))));
        assert!(timed.shifts_pace);
    }

    #[test]
    fn a_floor_is_for_the_directions_that_the_job_has() {
        let bytes = |options| plan(&spec(options)).floors.bytes.0;
        let ios = |options| plan(&spec(options)).floors.ios.0;
        assert_eq!(bytes("rw=write rate_min=7"), [0, 7, 0]);
        assert_eq!(ios("rw=randread rate_iops_min=7"), [7, 0, 0]);
        assert_eq!(ios("rw=randrw rate_iops_min=7,9"), [7, 9, 0]);
        // A direction without a share of the mix has no turn.
        assert_eq!(bytes("rw=randrw rwmixread=100 rate_min=7"), [7, 0, 0]);
        assert_eq!(bytes("rw=randrw rwmixread=0 rate_min=7"), [0, 7, 0]);
    }
}
