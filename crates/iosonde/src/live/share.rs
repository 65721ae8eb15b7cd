//! How much of a run is done.

use iosonde_base::Nanos;
use iosonde_run::conductor::JobSnapshot;
use iosonde_run::job::{JobPlan, Plan};
use iosonde_run::worker::JobStage;

/// The share of the run that is done, 0 to 1, and the seconds left, both of the
/// job that takes longest.
pub fn progress(plan: &Plan, snapshots: &[JobSnapshot], elapsed: Nanos) -> Option<(f64, u64)> {
    let mut least: Option<(f64, u64)> = None;
    for (job, snapshot) in plan.jobs.iter().zip(snapshots) {
        let done = match snapshot.state {
            JobStage::Finished => continue,
            JobStage::Waiting | JobStage::Opening | JobStage::Ready => 0.0,
            _ => share_done(job, snapshot, elapsed)?,
        };
        let left = match job.time.runtime {
            Some(runtime) => (runtime.secs_f64() * (1.0 - done)).ceil() as u64,
            None if done > 0.0 => (elapsed.secs_f64() * (1.0 - done) / done).ceil() as u64,
            None => return None,
        };
        if least.is_none_or(|(_, most)| left > most) {
            least = Some((done, left));
        }
    }
    least.or(Some((1.0, 0)))
}

fn share_done(job: &JobPlan, snapshot: &JobSnapshot, elapsed: Nanos) -> Option<f64> {
    let by_time = job.time.runtime.map(|runtime| {
        elapsed.secs_f64() / (runtime.secs_f64() + job.time.ramp.secs_f64()).max(1e-9)
    });
    let total = job.source.total_bytes.saturating_mul(job.source.loops);
    let bytes: u64 = snapshot.bytes.0.iter().sum();
    let by_bytes = (!job.source.time_based && total < u64::MAX && total > 0)
        .then(|| bytes as f64 / total as f64);
    let done = match (by_time, by_bytes) {
        (Some(time), Some(bytes)) => time.max(bytes),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return None,
    };
    Some(done.clamp(0.0, 1.0))
}
