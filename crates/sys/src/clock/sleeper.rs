//! A thread that wakes in time, without burning the time until then.

use super::{Bell, Clock, TickSource, Ticks};

/// Sleeps until just before a moment and spins the rest. How long before follows
/// from how late the system woke it up to now: nine wakes of ten shall be in
/// time, but no more than a third of a wait is spun.
///
/// For that the thread's timer slack has to be 1 ns:
/// [`set_timer_slack`](crate::process::set_timer_slack).
#[derive(Clone, Debug)]
pub struct Sleeper {
    /// How long before the moment it wants to be woken, in nanoseconds.
    early_ns: u64,
}

/// The median delay of a kernel timer with a slack of 1 ns on a quiet
/// virtual machine, nearly.
const FIRST_NS: u64 = 4_000;

/// Never woken less early than this: the call itself takes as long.
const LEAST_NS: u64 = 1_000;

/// Nor earlier than this: a machine so late is busy with others.
const MOST_NS: u64 = 8_000;

/// How much later it wants to be woken after a wake in time; nine times as much
/// earlier after one that was not, which makes nine in ten.
const STEP_NS: u64 = 50;

/// So little is not worth going to sleep.
const SHORT_NS: u64 = 3_000;

/// Of a wait as long as this a third is never spun.
const FAR_NS: u64 = 3 * MOST_NS;

/// What is longer takes a division to be told to the system.
const SECOND_NS: u64 = 1_000_000_000;

impl Default for Sleeper {
    fn default() -> Sleeper {
        Sleeper { early_ns: FIRST_NS }
    }
}

impl Sleeper {
    /// How long to sleep with so much left, in nanoseconds; zero to spin.
    #[inline(always)]
    pub fn nap_ns(&self, left_ns: u64) -> u64 {
        match left_ns {
            FAR_NS.. => left_ns - self.early_ns,
            SHORT_NS.. => left_ns - self.early_ns.min(left_ns / 3),
            _ => 0,
        }
    }

    /// How much longer than requested a sleep lasted, in nanoseconds.
    pub fn woke(&mut self, late_ns: u64) {
        self.learn(late_ns <= self.early_ns);
    }

    /// Whether it was woken in time.
    #[inline(always)]
    fn learn(&mut self, in_time: bool) {
        self.early_ns = if !in_time {
            (self.early_ns + 9 * STEP_NS).min(MOST_NS)
        } else {
            (self.early_ns - STEP_NS).max(LEAST_NS)
        };
    }

    /// As [`Sleeper::sleep_until`] from `now`, which is before the moment, in few
    /// instructions where that is neither near nor far: for who waits again and again.
    #[inline(always)]
    pub fn doze_until(&mut self, clock: impl Ticks, now: u64, moment: u64, bell: &Bell) -> u64 {
        let left_ns = clock.ticks_to_ns(moment.wrapping_sub(now));
        let is_usual = (FAR_NS..SECOND_NS).contains(&left_ns) && clock.passes();
        if is_usual && bell.sleeps_through((left_ns - self.early_ns) as u32) {
            let mut now = clock.now();
            self.learn(now <= moment);
            while now < moment {
                std::hint::spin_loop();
                now = clock.now();
            }
            return now;
        }
        self.sleep_on(clock.clock(), moment, bell)
    }

    #[cold]
    #[inline(never)]
    fn sleep_on(&mut self, clock: Clock, moment: u64, bell: &Bell) -> u64 {
        self.sleep_until(&clock, clock.now(), moment, bell)
    }

    /// As [`Clock::sleep_until`], from `now` on, and learn from it. The time then:
    /// before the moment if the bell was rung.
    pub fn sleep_until(&mut self, clock: &Clock, now: u64, moment: u64, bell: &Bell) -> u64 {
        let mut now = now;
        loop {
            let nap_ns = self.nap_ns(clock.ns_between(now, moment));
            if nap_ns == 0 || matches!(clock.reading, TickSource::Still(_)) {
                return Sleeper::spin_until(clock, now, moment, bell);
            }
            if bell.wait_ns(nap_ns) {
                return clock.now();
            }
            let began = std::mem::replace(&mut now, clock.now());
            // Less was slept if a signal came.
            if let Some(late_ns) = clock.ns_between(began, now).checked_sub(nap_ns) {
                self.woke(late_ns);
                return Sleeper::spin_until(clock, now, moment, bell);
            }
        }
    }

    /// The same without sleep: for a moment that is near.
    #[inline]
    pub fn spin_until(clock: &Clock, now: u64, moment: u64, bell: &Bell) -> u64 {
        if let TickSource::Still(still) = clock.reading {
            let _ = still.sleep_until(moment, Some(bell));
            return clock.now();
        }
        let mut now = now;
        while now < moment {
            std::hint::spin_loop();
            now = clock.now();
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_woken_as_early_as_nine_in_ten_need() {
        let mut sleeper = Sleeper::default();
        // From 0 to 5.94 us late, each as often.
        for n in 0..100_000 {
            sleeper.woke(n * 7919 % 100 * 60);
        }
        let early = 1_000_000 - sleeper.nap_ns(1_000_000);
        assert!((4_800..5_900).contains(&early), "{early}");
    }

    #[test]
    fn a_doze_ends_after_the_moment_or_with_the_bell() {
        let clock = Clock::pick(super::super::ClockSource::Auto).unwrap();
        let (mut sleeper, bell) = (Sleeper::default(), Bell::new());
        for ns in [1, 2_000, 10_000, 200_000] {
            let now = clock.now();
            let moment = clock.after(now, ns);
            assert!(sleeper.doze_until(clock, now, moment, &bell) >= moment, "{ns} ns");
        }
        bell.ring();
        for ns in [500_000_000, 3_600_000_000_000] {
            let now = clock.now();
            let moment = clock.after(now, ns);
            assert!(sleeper.doze_until(clock, now, moment, &bell) < moment, "{ns} ns");
        }
    }

    #[test]
    fn no_more_than_a_third_is_spun_and_no_machine_is_too_late() {
        let mut sleeper = Sleeper::default();
        (0..1000).for_each(|_| sleeper.woke(u64::MAX));
        assert_eq!(sleeper.nap_ns(1_000_000), 1_000_000 - MOST_NS);
        assert_eq!(sleeper.nap_ns(18_000), 12_000);
        (0..1000).for_each(|_| sleeper.woke(0));
        assert_eq!(sleeper.nap_ns(18_000), 18_000 - LEAST_NS);
        assert_eq!(sleeper.nap_ns(SHORT_NS - 1), 0);
    }
}
