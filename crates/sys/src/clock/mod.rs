//! Time for a run, as raw ticks that are cheap to read and to subtract.
//!
//! The hot loop keeps ticks and converts a difference when it counts it. Ticks
//! are the processor's counter where that is steady, nanoseconds otherwise; the
//! [`Still`] clock stands until it is moved, so that simulated time is free.
//! No fence orders a reading: the stamps of one thread are a few nanoseconds
//! sharp, which is less than a system call, and a fence would double the price.

mod bell;
mod calibration;
mod counter;
mod known;
mod sleeper;
mod still;
mod system;

pub use bell::{Bell, Slept};
pub use known::{CounterClock, Ticks};
pub use sleeper::Sleeper;
pub use still::Still;
pub use system::SystemClock;

use crate::platform;
use calibration::TickScale;

/// Where time comes from; the words are those of fio's `clocksource`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClockSource {
    /// The processor's counter where it is steady, else `clock_gettime`.
    #[default]
    Auto,
    /// The processor's counter, taken for steady even if the processor does
    /// not say so (valgrind hides that it is).
    Cpu,
    /// clock_gettime(2) with `CLOCK_MONOTONIC`.
    ClockGettime,
    /// The time of day in whole microseconds, as gettimeofday(2) gives it. It
    /// may be set back while a job runs; differences then count as zero.
    Gettimeofday,
}

/// Why a clock is unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockError {
    /// There is no counter that a program may read on this kind of processor.
    NoCounter,
    /// The counter did not advance while it was being calibrated.
    CounterStands,
}

impl std::fmt::Display for ClockError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ClockError::NoCounter => {
                "read the processor's counter: this processor has none we know; \
                 use clocksource=clock_gettime"
            }
            ClockError::CounterStands => {
                "calibrate the processor's counter: it does not advance; \
                 use clocksource=clock_gettime"
            }
        })
    }
}

impl std::error::Error for ClockError {}

/// The source that [`Clock::now`] reads. The counter comes first: the loop asks only
/// whether it is that.
#[derive(Clone, Copy, Debug)]
enum TickSource {
    Counter,
    Monotonic,
    TimeOfDay,
    Still(Still),
}

/// A clock. Copy it freely: copies show the same time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    scale: TickScale,
    reading: TickSource,
}

impl Clock {
    /// The clock requested. Calibrating the processor's counter sleeps about
    /// 4 ms, the first time in a process; afterwards it is known.
    ///
    /// # Errors
    /// Only [`ClockSource::Cpu`] can fail, where there is no counter.
    pub fn pick(source: ClockSource) -> Result<Clock, ClockError> {
        match source {
            ClockSource::Auto if counter::is_steady() => {
                Ok(Clock::counter().unwrap_or_else(|_| Clock::monotonic()))
            }
            ClockSource::Auto | ClockSource::ClockGettime => Ok(Clock::monotonic()),
            ClockSource::Cpu => Clock::counter(),
            ClockSource::Gettimeofday => {
                Ok(Clock { scale: TickScale::NANOSECONDS, reading: TickSource::TimeOfDay })
            }
        }
    }

    /// `CLOCK_MONOTONIC`; a tick is a nanosecond.
    pub const fn monotonic() -> Clock {
        Clock { scale: TickScale::NANOSECONDS, reading: TickSource::Monotonic }
    }

    /// The clock that `still` moves; a tick is a nanosecond.
    pub const fn still(still: Still) -> Clock {
        Clock { scale: TickScale::NANOSECONDS, reading: TickSource::Still(still) }
    }

    fn counter() -> Result<Clock, ClockError> {
        Ok(Clock { scale: calibration::of_this_machine()?, reading: TickSource::Counter })
    }

    /// The source this clock reads; a still clock counts as `ClockGettime`,
    /// which has the same unit.
    pub const fn source(&self) -> ClockSource {
        match self.reading {
            TickSource::Counter => ClockSource::Cpu,
            TickSource::Monotonic | TickSource::Still(_) => ClockSource::ClockGettime,
            TickSource::TimeOfDay => ClockSource::Gettimeofday,
        }
    }

    /// The same clock, known to read the processor's counter, if it does.
    #[inline(always)]
    pub const fn counting(&self) -> Option<CounterClock> {
        match self.reading {
            TickSource::Counter => Some(CounterClock::new(self.scale)),
            _ => None,
        }
    }

    /// The present, in ticks since some fixed moment. Never decreases on one
    /// thread, except with [`ClockSource::Gettimeofday`].
    #[inline(always)]
    pub fn now(&self) -> u64 {
        match self.reading {
            TickSource::Counter => counter::read(),
            _ => self.now_by_call(),
        }
    }

    // Out of line, so that what the loop inlines is a compare and the counter.
    #[inline(never)]
    fn now_by_call(&self) -> u64 {
        match self.reading {
            TickSource::Counter => counter::read(),
            TickSource::Monotonic => platform::monotonic_ns(),
            TickSource::TimeOfDay => time_of_day_ns(),
            TickSource::Still(still) => still.now_ns(),
        }
    }

    /// A difference of ticks as nanoseconds, rounded down; it never decreases
    /// as `ticks` grows, up to 290 years. A difference that came out negative
    /// must not come here: [`Clock::ns_between`] clamps it.
    #[inline(always)]
    pub fn ticks_to_ns(&self, ticks: u64) -> u64 {
        self.scale.ns(ticks)
    }

    /// As [`Clock::ticks_to_ns`] of each of `ticks`, in a quarter of the instructions, where all
    /// of them are short: whether they are. They are if each lasts less than 2^23 nanoseconds on
    /// a counter of 1 GHz and more; of other clocks nothing is.
    #[inline]
    pub fn brief_ns(&self, ticks: &[u64], ns: &mut [u32]) -> bool {
        self.scale.brief_ns(ticks, ns)
    }

    /// Nanoseconds from `earlier` to `later`, zero if they are the other way
    /// round (two processors' counters may disagree by a few ticks).
    #[inline(always)]
    pub fn ns_between(&self, earlier: u64, later: u64) -> u64 {
        self.scale.ns(later.saturating_sub(earlier))
    }

    /// The fewest ticks that last `ns` nanoseconds; `u64::MAX` if that is more
    /// than fits. The inverse of [`Clock::ticks_to_ns`].
    pub fn ns_to_ticks(&self, ns: u64) -> u64 {
        self.scale.ticks(ns)
    }

    /// The moment `ns` nanoseconds after `moment`, in ticks; saturates at
    /// `u64::MAX`, a moment that never comes.
    pub fn after(&self, moment: u64, ns: u64) -> u64 {
        moment.saturating_add(self.scale.ticks(ns))
    }

    /// Sleep until the clock shows `moment` (in ticks), and return
    /// [`Slept::Through`]; or until `bell` is rung, if that is before, and
    /// return [`Slept::Woken`]. A bell that has been rung already wakes at
    /// once. A still clock jumps to the moment instead.
    ///
    /// Never early, and late by what the machine needs to wake a thread less what
    /// a new [`Sleeper`] wakes early.
    pub fn sleep_until(&self, moment: u64, bell: Option<&Bell>) -> Slept {
        let silent = Bell::new();
        let bell = bell.unwrap_or(&silent);
        let now = Sleeper::default().sleep_until(self, self.now(), moment, bell);
        if now < moment || bell.is_rung() { Slept::Woken } else { Slept::Through }
    }
}

/// The time of day, in whole microseconds, as nanoseconds since 1970.
fn time_of_day_ns() -> u64 {
    u64::try_from(iosonde_base::time::since_1970().as_micros() * 1_000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks() -> Vec<Clock> {
        [ClockSource::Auto, ClockSource::Cpu, ClockSource::ClockGettime, ClockSource::Gettimeofday]
            .into_iter()
            .filter_map(|source| Clock::pick(source).ok())
            .collect()
    }

    #[test]
    fn auto_always_has_a_clock() {
        assert!(Clock::pick(ClockSource::Auto).is_ok());
    }

    #[test]
    fn the_source_asked_for_is_the_source_that_is_read() {
        for source in [ClockSource::Cpu, ClockSource::ClockGettime, ClockSource::Gettimeofday] {
            if let Ok(clock) = Clock::pick(source) {
                assert_eq!(clock.source(), source);
            }
        }
    }

    #[test]
    fn readings_of_steady_sources_never_decrease() {
        for clock in clocks().into_iter().filter(|c| c.source() != ClockSource::Gettimeofday) {
            let mut last = clock.now();
            for _ in 0..10_000 {
                let now = clock.now();
                assert!(now >= last, "{clock:?}");
                last = now;
            }
        }
    }

    #[test]
    fn a_sleep_lasts_at_least_as_long_as_asked() {
        for clock in clocks().into_iter().filter(|c| c.source() != ClockSource::Gettimeofday) {
            for ns in [0, 1, 3_000, 200_000] {
                let start = clock.now();
                let end = clock.after(start, ns);
                assert_eq!(clock.sleep_until(end, None), Slept::Through);
                assert!(clock.ns_between(start, clock.now()) >= ns, "{clock:?} {ns}");
            }
        }
    }

    #[test]
    fn a_rung_bell_ends_a_sleep_that_would_never_end() {
        for clock in clocks() {
            let bell = Bell::new();
            std::thread::scope(|scope| {
                scope.spawn(|| bell.ring());
                assert_eq!(clock.sleep_until(u64::MAX, Some(&bell)), Slept::Woken);
            });
        }
    }

    #[test]
    fn a_still_clock_jumps_over_its_sleep() {
        let clock = Clock::still(Still::at(5));
        assert_eq!(clock.sleep_until(3_600_000_000_000, None), Slept::Through);
        assert_eq!(clock.now(), 3_600_000_000_000);
        assert_eq!(clock.sleep_until(7, None), Slept::Through);
        assert_eq!(clock.now(), 3_600_000_000_000, "time never goes back");
    }

    #[test]
    fn a_difference_the_wrong_way_round_is_zero() {
        let clock = Clock::monotonic();
        assert_eq!(clock.ns_between(10, 3), 0);
        assert_eq!(clock.ns_between(3, 10), 7);
    }

    #[test]
    fn a_moment_beyond_all_time_saturates() {
        for clock in clocks() {
            assert_eq!(clock.after(u64::MAX - 1, u64::MAX), u64::MAX);
        }
    }
}
