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

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds() -> LatencyBounds {
        LatencyBounds::new(Most { 0: [1000, 2000, u64::MAX] })
    }

    #[test]
    fn an_io_at_its_bound_is_in_time_and_one_above_ends_the_job() {
        let mut bounds = bounds();
        assert!(!bounds.completed(Dir::Read, 1000, 1));
        assert!(!bounds.completed(Dir::Write, 2000, 1), "each direction has its own");
        assert!(!bounds.completed(Dir::Trim, u64::MAX, 1));
        assert_eq!(bounds.too_long(), None);
        assert!(bounds.completed(Dir::Write, 2001, 1));
        assert!(bounds.completed(Dir::Read, 9000, 1));
        assert_eq!(bounds.too_long(), Some((2001, 2000)), "the first is reported");
        assert_eq!(bounds.tried(), Tried { ios: 5, slow: 0 }, "nothing was to be counted");
    }

    #[test]
    fn slow_ios_are_counted_and_cut_a_slice_short_where_that_is_wanted() {
        for at_first in [false, true] {
            let mut bounds = bounds().counting(500, at_first);
            bounds.completed(Dir::Read, 500, 10);
            assert!(!bounds.cut_short());
            bounds.completed(Dir::Read, 501, 3);
            assert_eq!(bounds.cut_short(), at_first);
            assert_eq!(bounds.take_tried(), Tried { ios: 13, slow: 3 });
            assert_eq!(bounds.tried(), Tried::default(), "counted anew");
            assert!(!bounds.cut_short());
        }
    }
}
