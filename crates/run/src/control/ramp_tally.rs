//! Bytes that the jobs of a ramp have moved together (`ramp_size`).

use crate::job::{JobPlan, Plan};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that the jobs of a ramp have moved together (`ramp_size`).
#[derive(Debug, Default)]
pub struct RampTally(AtomicU64);

impl RampTally {
    /// Add what one job has moved; the sum.
    pub fn add(&self, bytes: u64) -> u64 {
        self.0.fetch_add(bytes, Ordering::Relaxed) + bytes
    }

    /// The tallies of all jobs of a plan: one for each job, or for each group
    /// that is reported as one.
    pub(crate) fn all(plan: &Plan) -> Vec<Arc<RampTally>> {
        let mut groups: Vec<(u32, Arc<RampTally>)> = Vec::new();
        let mut tally = |job: &JobPlan| {
            if !job.reporting.group_reporting {
                return Arc::default();
            }
            if let Some((_, tally)) = groups.iter().find(|(group, _)| *group == job.group) {
                return tally.clone();
            }
            let tally: Arc<RampTally> = Arc::default();
            groups.push((job.group, tally.clone()));
            tally
        };
        plan.jobs.iter().map(&mut tally).collect()
    }
}
