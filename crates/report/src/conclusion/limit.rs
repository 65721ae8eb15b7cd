//! What limited a run, by evidence: where the jobs' time went, what the devices did
//! meanwhile, and the limits that were set.

use super::stall::{self, Stall};
use super::{Certainty, LimitedBy, TimeShares, time};
use crate::ledger::{DeviceLedger, DeviceUse, Fact, JobLedger, Ledger, share};

/// A limit that takes so much of the time is beyond doubt.
const CERTAIN_SHARE: f64 = 0.8;
/// A device that is busy for less of the time is not what a job waits for.
const IDLE_SHARE: f64 = 0.1;
/// Shorter ones show nothing of where the time went.
const MOMENT_NS: u64 = 50_000_000;
/// A stall of this share is what limited the run.
const STALL_SHARE: f64 = 0.5;

/// What limited a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limited {
    pub(super) limit: LimitedBy,
    pub(super) certainty: Certainty,
    pub(super) time: Option<TimeShares>,
    pub(super) stall: Option<Stall>,
    /// The limit of each job, in their order.
    pub(super) jobs: Vec<JobLimit>,
}

/// What limited a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitKind {
    /// The rate that was set: reached, or nearly so with time to spare.
    Rate,
    /// Think time, or another job's share of the flow.
    Pause,
    /// No storage was involved.
    NoStorage,
    /// A device of the engine `sim`.
    Simulated,
    /// The tester, near its upper bound.
    Tester,
    /// A control group's limit of processors.
    CpuQuota,
    /// A control group's limit of I/O.
    IoQuota,
    /// The page cache, or holes.
    Memory,
    /// Processors: its own use, and what others took.
    Processor,
    /// The storage.
    Storage,
    /// It waited, and not for a device that is known.
    Waiting,
}

/// What limited a job, and how sure that is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JobLimit {
    pub(super) kind: LimitKind,
    pub(super) certainty: Certainty,
}

impl LimitKind {
    fn public(self) -> LimitedBy {
        match self {
            LimitKind::Rate | LimitKind::Pause => LimitedBy::Pace,
            LimitKind::NoStorage | LimitKind::Tester => LimitedBy::Tester,
            LimitKind::CpuQuota | LimitKind::IoQuota => LimitedBy::Quota,
            LimitKind::Memory => LimitedBy::Memory,
            LimitKind::Processor => LimitedBy::Processor,
            LimitKind::Storage | LimitKind::Simulated => LimitedBy::Storage,
            LimitKind::Waiting => LimitedBy::Unknown,
        }
    }
}

/// What limited the run.
pub(super) fn of(ledger: &Ledger) -> Limited {
    let ran = || ledger.jobs.iter().filter(|job| job.runtime_ns > 0);
    let jobs: Vec<JobLimit> = ran().map(|job| of_job(job, ledger)).collect();
    let time = time::of_all(ran());
    let stall = stall::of(ledger);
    if stall.is_some_and(|stall| stall.share() >= STALL_SHARE) {
        return Limited {
            limit: LimitedBy::Stall,
            certainty: Certainty::Certain,
            time,
            stall,
            jobs,
        };
    }
    let mut kinds = jobs.iter().map(|job| job.kind.public());
    let first = kinds.next().unwrap_or_default();
    let limit = if kinds.all(|kind| kind == first) { first } else { LimitedBy::Mixed };
    let least = jobs.iter().map(|job| job.certainty.clone()).min().unwrap_or_default();
    let certainty = if limit == LimitedBy::Unknown { Certainty::Unknown } else { least };
    Limited { limit, certainty, time, stall, jobs }
}

fn of_job(job: &JobLedger, ledger: &Ledger) -> JobLimit {
    let limit = |kind, share: f64| {
        let is_certain = share >= CERTAIN_SHARE;
        JobLimit {
            kind,
            certainty: if is_certain { Certainty::Certain } else { Certainty::Likely },
        }
    };
    let time = time::of(job).unwrap_or_default();
    let ready = time.on_processor + time.waiting_for_processor;
    if let Some((kind, share)) = of_pace(job, &time) {
        return limit(kind, share);
    }
    if ready >= 0.5 && time.waiting_for_processor >= 0.2 && is_throttled(ledger) {
        return limit(LimitKind::CpuQuota, ready);
    }
    if !touches_storage(job, ledger) {
        return match job.options.engine.as_str() {
            "sim" if time.asleep >= 0.5 => limit(LimitKind::Simulated, 1.0),
            // It waits for another job, a program or the network.
            _ if time.asleep >= 0.5 && job.runtime_ns >= MOMENT_NS => {
                limit(LimitKind::Waiting, 0.0)
            }
            _ => limit(LimitKind::NoStorage, 1.0),
        };
    }
    let busy_device = device_share(job, ledger);
    if let Some(cached) = memory_share(job).filter(|&cached| cached >= 0.5) {
        let waits_for_device = time.asleep >= 0.5 && busy_device.is_none_or(|busy| busy >= 0.5);
        if !waits_for_device || cached >= 0.99 {
            let doubt = if time.asleep >= 0.5 { 0.5 } else { 0.0 };
            return limit(LimitKind::Memory, cached - doubt);
        }
    }
    let quota = io_quota(job, ledger);
    if let Some(used) = quota.filter(|&used| used >= 0.5 && time.asleep >= 0.3) {
        return limit(LimitKind::IoQuota, if used >= 0.85 { 1.0 } else { 0.5 });
    }
    let keeps_queue = job.depth.requested >= 4
        && job
            .depth
            .observed_at_device
            .get()
            .is_some_and(|depth| depth >= 0.7 * job.depth.requested_by_all.max(1) as f64);
    if ready >= 0.5 && !job.options.polled_by_kernel && !keeps_queue {
        let is_tester = near_upper_bound(job) && time.on_processor > time.waiting_for_processor;
        let kind = if is_tester { LimitKind::Tester } else { LimitKind::Processor };
        return limit(kind, ready);
    }
    match busy_device {
        // Nothing is counted there: what it waited for is the storage, whatever that is.
        None => limit(LimitKind::Storage, 0.5),
        Some(_) if keeps_queue => limit(LimitKind::Storage, 1.0),
        Some(busy) if busy >= IDLE_SHARE => {
            limit(LimitKind::Storage, if busy >= 0.5 { time.asleep } else { 0.5 })
        }
        Some(_) if quota.is_some() => limit(LimitKind::IoQuota, 0.5),
        Some(_) => limit(LimitKind::Waiting, 0.0),
    }
}

/// A pace that the job kept, with its share of the time; nothing where something else kept
/// it from that.
fn of_pace(job: &JobLedger, time: &TimeShares) -> Option<(LimitKind, f64)> {
    if !job.options.paced {
        return None;
    }
    let rests = 1.0 - time::in_flight(job);
    let Some(pace) = &job.options.pace else {
        let kept = rests >= 0.5 && time.waiting_for_processor < 0.5;
        return kept.then_some((LimitKind::Pause, rests));
    };
    if is_reached(job) {
        return Some((LimitKind::Rate, 1.0));
    }
    // It rested between its I/Os, and so could have done more.
    let kept = rests >= 0.5 && time.asleep >= 0.5 && pace.reached > 0.0;
    kept.then_some((if job.options.pauses { LimitKind::Pause } else { LimitKind::Rate }, 0.5))
}

/// Whether a rate that was set was reached: but for an I/O or two, and 5 %.
pub(super) fn is_reached(job: &JobLedger) -> bool {
    let Some(pace) = &job.options.pace else { return false };
    let each = if pace.in_bytes { job.options.block_bytes_max as f64 } else { 1.0 };
    let two_ios = 2.0 * each / (job.runtime_ns.max(1) as f64 / 1e9);
    pace.reached >= 0.95 * pace.requested || pace.reached + two_ios >= pace.requested
}

/// Whether a control group took the processors away, for much of the time or from jobs that
/// used what it leaves them.
fn is_throttled(ledger: &Ledger) -> bool {
    let used: f64 = ledger.jobs.iter().map(|job| job.cpu.busy_share).sum();
    let periods = ledger.machine.throttled.get().map_or(0, |throttled| throttled.periods);
    let used_up = ledger.environment.cgroup_cpus.is_some_and(|cpus| used >= 0.7 * cpus);
    throttled_share(ledger) >= 0.3 || (periods > 0 && used_up)
}

/// The share of the time for which a control group took the processors away.
pub(super) fn throttled_share(ledger: &Ledger) -> f64 {
    let throttled = ledger.machine.throttled.get().map_or(0, |throttled| throttled.ns);
    share(throttled, ledger.machine.wall_ns).unwrap_or(0.0).min(1.0)
}

fn touches_storage(job: &JobLedger, ledger: &Ledger) -> bool {
    let on_storage = !job.files.devices.is_empty() || !job.files.filesystems.is_empty();
    on_storage || !ledger.devices.is_empty() && (job.reads.is_some() || job.writes.is_some())
}

/// The share of a job's bytes that no device saw while it ran: from the page cache or from
/// holes, or in the page cache still, or overwritten there.
pub(super) fn memory_share(job: &JobLedger) -> Option<f64> {
    let read = job.reads.as_ref().map_or(Some((0, 0)), |reads| {
        let known = [&reads.cache_bytes, &reads.hole_bytes].map(|bytes| bytes.get());
        let sum: u64 = known.iter().flatten().sum();
        // Without any figure nothing is known.
        known.iter().any(Option::is_some).then_some((sum, reads.completed_bytes))
    })?;
    let written = job.writes.as_ref().map_or(Some((0, 0)), |writes| {
        let dirty = writes.dirty_at_end_bytes.get()?;
        Some((dirty, writes.completed_bytes))
    })?;
    let all = read.1 + written.1;
    share((read.0.min(read.1) + written.0.min(written.1)).min(all), all)
}

/// The devices right below a job's files.
pub(super) fn devices_below<'a>(
    job: &'a JobLedger,
    ledger: &'a Ledger,
) -> impl Iterator<Item = &'a DeviceLedger> {
    ledger.devices.iter().filter(|device| job.files.devices.contains(&device.name))
}

/// The share of the time in which the busiest of the devices below a job's files had
/// requests; `None` where there is none, or it is not counted.
pub(super) fn device_share(job: &JobLedger, ledger: &Ledger) -> Option<f64> {
    let share = |used: &DeviceUse| {
        used.depth.min(1.0).max(if used.depth > 0.0 { used.busy_share } else { 0.0 })
    };
    devices_below(job, ledger)
        .filter_map(|device| device.used.known().map(share))
        .max_by(f64::total_cmp)
}

fn near_upper_bound(job: &JobLedger) -> bool {
    let bound = job.cpu.upper_bound_iops.get();
    bound.is_some_and(|bound| bound > 0.0 && job.cpu.iops > 0.5 * bound)
}

/// How much of a control group's limit of I/O was used, of the one that is nearest; `None`
/// without any on the devices of the job.
pub(super) fn io_quota(job: &JobLedger, ledger: &Ledger) -> Option<f64> {
    let lines = &ledger.environment.cgroup_io;
    let seconds = ledger.machine.wall_ns.max(1) as f64 / 1e9;
    let mut done = [0.0; 4];
    for used in devices_below(job, ledger).filter_map(|device| match &device.used {
        Fact::Known(used) => Some(used),
        Fact::Unknown(_) => None,
    }) {
        let more = [used.read_bytes, used.write_bytes, used.read_ios, used.write_ios];
        done.iter_mut().zip(more).for_each(|(sum, more)| *sum += more as f64 / seconds);
    }
    let of = |limit: &str| {
        let (name, figure) = limit.split_once('=')?;
        let figure: f64 = figure.parse().ok()?;
        let names = ["rbps", "wbps", "riops", "wiops"];
        let at = names.iter().position(|known| *known == name)?;
        Some(done[at] / figure.max(1.0))
    };
    let limits = lines.iter().flat_map(|line| line.split_ascii_whitespace());
    limits.filter_map(of).max_by(f64::total_cmp)
}
