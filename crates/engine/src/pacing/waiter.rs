//! A job's thread waits until its next I/O is due.

use crate::SliceControl;
use iosonde_sys::clock::{Sleeper, Ticks};

/// Wakes the thread in time for the next I/O.
#[derive(Debug, Default)]
pub(crate) struct Waiter {
    sleeper: Sleeper,
    /// The moment it was woken for already: what is left until then is spun.
    woken_for: u64,
}

impl Waiter {
    /// Wait from `now` until `moment`, or until the slice ends. The time then: earlier if
    /// the job is to stop.
    #[inline(always)]
    pub(crate) fn wait(
        &mut self,
        clock: impl Ticks,
        control: &SliceControl,
        now: u64,
        moment: u64,
    ) -> u64 {
        match moment.min(control.until()) {
            moment if now >= moment => now,
            moment => self.wait_within(clock, control, now, moment),
        }
    }

    /// The same for a moment that is later than `now`, and within the slice.
    #[inline(always)]
    pub(crate) fn wait_within(
        &mut self,
        clock: impl Ticks,
        control: &SliceControl,
        now: u64,
        moment: u64,
    ) -> u64 {
        if self.woken_for == moment {
            Sleeper::spin_until(&clock.clock(), now, moment, control.bell())
        } else {
            self.sleeper.doze_until(clock, now, moment, control.bell())
        }
    }

    /// How long something else may be waited for from `now` to `moment`, in
    /// nanoseconds; zero if that is near.
    #[inline(always)]
    pub(crate) fn nap_ns(
        &self,
        clock: impl Ticks,
        control: &SliceControl,
        now: u64,
        moment: u64,
    ) -> u64 {
        if self.woken_for == moment {
            return 0;
        }
        let left_ns = clock.ticks_to_ns(moment.min(control.until()).saturating_sub(now));
        self.sleeper.nap_ns(left_ns)
    }

    /// Nothing came in that time: the wait ended so much later.
    pub(crate) fn timed_out(&mut self, moment: u64, late_ns: u64) {
        self.woken_for = moment;
        self.sleeper.woke(late_ns);
    }
}
