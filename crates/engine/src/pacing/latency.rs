//! Bounds on latency: `max_latency` ends the job, `latency_target` counts.

use super::Most;
use iosonde_base::Dir;

/// What was counted of latencies over some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// I/Os that came back.
    pub ios: u64,
    /// Those among them that took longer than the target.
    pub slow: u64,
}

/// The bounds of a job.
#[derive(Clone, Debug)]
pub struct LatencyBounds {
    /// One I/O that takes longer ends the job (`max_latency`); nanoseconds.
    most: Most,
    /// I/Os that take longer are counted (`latency_target`); nanoseconds.
    target: u64,
    /// One that is counted ends the slice (`latency_percentile=100`).
    at_first: bool,
    tried: Tried,
    too_long: Option<(u64, u64)>,
}

impl LatencyBounds {
    /// No I/O of a direction may take longer than `most` nanoseconds.
    pub fn new(most: Most) -> LatencyBounds {
        LatencyBounds {
            most,
            target: u64::MAX,
            at_first: false,
            tried: Tried::default(),
            too_long: None,
        }
    }

    /// Count I/Os that take longer than `target` nanoseconds, and end the
    /// slice at the first if asked.
    pub fn counting(self, target: u64, at_first: bool) -> LatencyBounds {
        LatencyBounds { target, at_first, ..self }
    }

    /// I/Os completed. Whether they took so long that the job must end.
    pub(super) fn completed(&mut self, dir: Dir, ns: u64, count: u64) -> bool {
        self.tried.ios += count;
        if ns > self.target {
            self.tried.slow += count;
        }
        if ns > self.most[dir] {
            self.too_long.get_or_insert((ns, self.most[dir]));
            return true;
        }
        false
    }

    /// Whether a slow I/O settles the matter.
    pub(super) fn cut_short(&self) -> bool {
        self.at_first && self.tried.slow > 0
    }

    pub(super) fn tried(&self) -> Tried {
        self.tried
    }

    pub(super) fn take_tried(&mut self) -> Tried {
        std::mem::take(&mut self.tried)
    }

    pub(super) fn too_long(&self) -> Option<(u64, u64)> {
        self.too_long
    }
}
