//! `flow`: jobs that share a flow do I/Os in proportion to their weights.

use iosonde_base::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What the jobs of one `flow_id` have in common: those that run now.
#[derive(Debug, Default)]
pub struct FlowGroup {
    weights: AtomicU64,
    ios: AtomicU64,
}

/// One job's part of a flow. Leaves the flow when dropped, so that the others
/// do not wait for a job that has ended.
#[derive(Debug)]
pub struct FlowShare {
    group: Arc<FlowGroup>,
    weight: u64,
    /// How long to wait before asking again (`flow_sleep`).
    sleep: Nanos,
    ios: u64,
    joined: bool,
}

impl FlowShare {
    /// The part of a job of this weight, not counted until the job starts.
    pub fn new(group: Arc<FlowGroup>, weight: u32, sleep: Nanos) -> FlowShare {
        FlowShare { group, weight: weight.into(), sleep, ios: 0, joined: false }
    }

    pub(super) fn join(&mut self) {
        if !std::mem::replace(&mut self.joined, true) {
            self.group.weights.fetch_add(self.weight, Relaxed);
        }
    }

    /// How long to wait, if the job is ahead of its share.
    pub(super) fn must_wait(&self) -> Option<Nanos> {
        let (weights, ios) = (self.group.weights.load(Relaxed), self.group.ios.load(Relaxed));
        let mine = u128::from(self.ios) * u128::from(weights);
        (mine > u128::from(ios) * u128::from(self.weight)).then_some(self.sleep)
    }

    pub(super) fn started(&mut self) {
        self.ios += 1;
        self.group.ios.fetch_add(1, Relaxed);
    }
}

impl Drop for FlowShare {
    fn drop(&mut self) {
        if self.joined {
            self.group.weights.fetch_sub(self.weight, Relaxed);
            self.group.ios.fetch_sub(self.ios, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(group: &Arc<FlowGroup>, weight: u32) -> FlowShare {
        let mut share = FlowShare::new(group.clone(), weight, Nanos(0));
        share.join();
        share
    }

    #[test]
    fn jobs_that_take_turns_do_ios_by_their_weights() {
        let group = Arc::default();
        let mut shares = [share(&group, 3), share(&group, 2), share(&group, 1)];
        for _ in 0..60_000 {
            for share in &mut shares {
                if share.must_wait().is_none() {
                    share.started();
                }
            }
        }
        let [a, b, c] = shares.each_ref().map(|share| share.ios as f64);
        assert!((a / c - 3.0).abs() < 0.01 && (b / c - 2.0).abs() < 0.01, "{a} {b} {c}");
    }

    #[test]
    fn a_job_alone_never_waits_nor_does_one_whose_partner_has_left() {
        let group = Arc::default();
        let (mut one, other) = (share(&group, 1), share(&group, 9));
        one.started();
        assert!(one.must_wait().is_some(), "it has had all of it");
        drop(other);
        for _ in 0..100 {
            assert!(one.must_wait().is_none());
            one.started();
        }
    }
}
