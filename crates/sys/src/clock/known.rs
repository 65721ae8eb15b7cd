//! Clocks of which the compiler knows what they read: a loop that reads one
//! again and again asks once, before it begins.

use super::calibration::TickScale;
use super::{Clock, TickSource, counter};

/// A clock that reads the processor's counter: a [`Clock`] of which that is known.
#[derive(Clone, Copy, Debug)]
pub struct CounterClock {
    scale: TickScale,
}

impl CounterClock {
    pub(super) const fn new(scale: TickScale) -> CounterClock {
        CounterClock { scale }
    }
}

/// What a loop needs of a clock.
pub trait Ticks: Copy {
    /// As [`Clock::now`].
    fn now(&self) -> u64;

    /// As [`Clock::ticks_to_ns`].
    fn ticks_to_ns(&self, ticks: u64) -> u64;

    /// The clock as any other.
    fn clock(&self) -> Clock;

    /// Whether time passes while a thread sleeps: not with a still clock.
    fn passes(&self) -> bool;
}

impl Ticks for CounterClock {
    #[inline(always)]
    fn now(&self) -> u64 {
        counter::read()
    }

    #[inline(always)]
    fn ticks_to_ns(&self, ticks: u64) -> u64 {
        self.scale.ns(ticks)
    }

    #[inline(always)]
    fn clock(&self) -> Clock {
        Clock { scale: self.scale, reading: TickSource::Counter }
    }

    #[inline(always)]
    fn passes(&self) -> bool {
        true
    }
}

impl Ticks for Clock {
    #[inline(always)]
    fn now(&self) -> u64 {
        Clock::now(self)
    }

    #[inline(always)]
    fn ticks_to_ns(&self, ticks: u64) -> u64 {
        Clock::ticks_to_ns(self, ticks)
    }

    #[inline(always)]
    fn clock(&self) -> Clock {
        *self
    }

    #[inline(always)]
    fn passes(&self) -> bool {
        !matches!(self.reading, TickSource::Still(_))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ClockSource, Still};
    use super::*;

    #[test]
    fn a_clock_known_to_be_the_counter_shows_the_same_time() {
        assert!(Clock::monotonic().counting().is_none());
        assert!(!Clock::still(Still::at(1)).passes());
        let Ok(clock) = Clock::pick(ClockSource::Cpu) else { return };
        let counter = clock.counting().unwrap();
        let readings = [clock.now(), counter.now(), counter.clock().now()];
        assert!(readings.is_sorted(), "{readings:?}");
        assert_eq!(counter.ticks_to_ns(12_345_678), clock.ticks_to_ns(12_345_678));
    }
}
