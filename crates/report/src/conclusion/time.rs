//! What the threads of jobs did with their time.

use super::TimeShares;
use crate::ledger::JobLedger;

/// The shares of one job; nothing of one that ran for no time.
pub(super) fn of(job: &JobLedger) -> Option<TimeShares> {
    if job.runtime_ns == 0 {
        return None;
    }
    let on_processor = job.cpu.busy_share.clamp(0.0, 1.0);
    let waited = job.cpu.waited_share.get().unwrap_or(0.0);
    let waiting_for_processor = waited.clamp(0.0, 1.0 - on_processor);
    let asleep = (1.0 - on_processor - waiting_for_processor).max(0.0);
    Some(TimeShares { on_processor, waiting_for_processor, asleep })
}

/// The shares of all, each as long as it ran.
pub(super) fn of_all<'a>(jobs: impl IntoIterator<Item = &'a JobLedger>) -> Option<TimeShares> {
    let (mut sum, mut ran) = (TimeShares::default(), 0.0);
    for job in jobs {
        let (Some(one), weight) = (of(job), job.runtime_ns as f64) else { continue };
        sum.on_processor += one.on_processor * weight;
        sum.waiting_for_processor += one.waiting_for_processor * weight;
        sum.asleep += one.asleep * weight;
        ran += weight;
    }
    (ran > 0.0).then(|| TimeShares {
        on_processor: sum.on_processor / ran,
        waiting_for_processor: sum.waiting_for_processor / ran,
        asleep: sum.asleep / ran,
    })
}

/// The share of a job's time with an I/O or a sync in flight; of several at a time, each
/// moment counts once where they never rest.
pub(super) fn in_flight(job: &JobLedger) -> f64 {
    let data = job.latency.mean_ns * job.latency.ios as f64;
    let syncs = job.syncs.mean_ns * job.syncs.requested as f64;
    ((data + syncs) / job.runtime_ns.max(1) as f64).min(1.0)
}

/// The share of a job's time with a sync in flight.
pub(super) fn in_syncs(job: &JobLedger) -> f64 {
    (job.syncs.mean_ns * job.syncs.requested as f64 / job.runtime_ns.max(1) as f64).min(1.0)
}
