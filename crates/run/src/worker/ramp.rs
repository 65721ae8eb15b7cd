//! The ramp: how long a job runs before anything counts, in time and in bytes.

use crate::control::RampTally;
use crate::job::JobPlan;
use iosonde_base::DIRS;
use iosonde_stats::Counters;
use iosonde_sys::clock::Clock;

/// A job's way through its ramp.
pub(crate) struct Ramp<'a> {
    clock: Clock,
    tally: &'a RampTally,
    /// `ramp_time`, in ticks from the start on.
    ends: u64,
    /// `ramp_size`.
    bytes: u64,
    /// What this job has moved, and all that share the ramp.
    moved: u64,
    moved_by_all: u64,
    began: u64,
    /// How long to run before looking at the bytes again.
    slice_ns: u64,
}

/// Short, so that a job of a few I/Os is not over before anybody looked.
const SLICE_NS_LEAST: u64 = 20_000;
const SLICE_NS_MOST: u64 = 5_000_000;

impl<'a> Ramp<'a> {
    pub fn new(job: &JobPlan, clock: Clock, tally: &'a RampTally, start: u64) -> Ramp<'a> {
        Ramp {
            clock,
            tally,
            ends: clock.after(start, job.time.ramp.0),
            bytes: job.time.ramp_bytes,
            moved: 0,
            moved_by_all: 0,
            began: start,
            slice_ns: SLICE_NS_LEAST,
        }
    }

    /// When to look again, in ticks.
    pub fn until(&self) -> u64 {
        if self.moved_by_all < self.bytes {
            self.clock.after(self.clock.now(), self.slice_ns)
        } else {
            self.ends
        }
    }

    /// Whether the ramp is over: its time has passed, its bytes are moved.
    pub fn is_over(&mut self, now: u64, counters: &Counters) -> bool {
        if self.bytes > 0 {
            let moved = DIRS.iter().map(|&dir| counters.lane(dir).bytes.get()).sum();
            self.moved_by_all = self.tally.add(moved - self.moved);
            self.moved = moved;
            let elapsed_ns = self.clock.ns_between(self.began, now);
            let left = self.bytes.saturating_sub(self.moved_by_all);
            self.slice_ns = next_look_ns(elapsed_ns, moved, left);
        }
        now >= self.ends && self.moved_by_all >= self.bytes
    }
}

/// Half of the time that the bytes left will take at the rate so far, so that
/// the end is met closely and a long ramp is not looked at all the time.
fn next_look_ns(elapsed_ns: u64, moved: u64, left: u64) -> u64 {
    let whole = u128::from(elapsed_ns) * u128::from(left) / u128::from(moved.max(1));
    let half = u64::try_from(whole / 2).unwrap_or(u64::MAX);
    half.clamp(SLICE_NS_LEAST, SLICE_NS_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_is_halfway_to_the_end() {
        // 1 ms for 100 bytes, 200 left: 2 ms, of which half.
        assert_eq!(next_look_ns(1_000_000, 100, 200), 1_000_000);
        assert_eq!(next_look_ns(1_000_000, 100, 1), SLICE_NS_LEAST);
        assert_eq!(next_look_ns(1_000_000, 0, u64::MAX), SLICE_NS_MOST);
        assert_eq!(next_look_ns(0, 0, 0), SLICE_NS_LEAST);
    }

    #[test]
    fn jobs_of_a_group_ramp_together() {
        let tally = RampTally::default();
        assert_eq!(tally.add(10), 10);
        assert_eq!(tally.add(5), 15);
    }
}
