//! A job's thread waits until its next I/O is due.

use crate::SliceControl;
use iosonde_sys::clock::{Clock, Sleeper};

/// Wakes the thread in time for the next I/O.
#[derive(Debug, Default)]
pub(crate) struct Waiter {
    sleeper: Sleeper,
    /// The moment it was woken for already: what is left until then is spun.
    woken_for: u64,
}

impl Waiter {
    /// Wait from `now` until `moment`, or until the slice ends. The time then.
    #[inline]
    pub(crate) fn wait(
        &mut self,
        clock: &Clock,
        control: &SliceControl,
        now: u64,
        moment: u64,
    ) -> u64 {
        let (woken, moment) = (self.woken_for == moment, moment.min(control.until()));
        match woken {
            true => Sleeper::spin_until(clock, now, moment, control.bell()),
            false => self.sleeper.sleep_until(clock, now, moment, control.bell()),
        }
    }

    /// How long something else may be waited for from `now` to `moment`, in
    /// nanoseconds; zero if that is near.
    #[inline(always)]
    pub(crate) fn nap_ns(
        &self,
        clock: &Clock,
        control: &SliceControl,
        now: u64,
        moment: u64,
    ) -> u64 {
        if self.woken_for == moment {
            return 0;
        }
        let left_ns = clock.ns_between(now, moment.min(control.until()));
        self.sleeper.nap_ns(left_ns)
    }

    /// Nothing came in that time: the wait ended so much later.
    pub(crate) fn timed_out(&mut self, moment: u64, late_ns: u64) {
        self.woken_for = moment;
        self.sleeper.woke(late_ns);
    }
}
