//! The system's clocks, by the numbers that clock_gettime(2) has for them on Linux.

use crate::platform;

/// A clock that this system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemClock(u32);

impl SystemClock {
    /// Processor time of the calling thread. (What getrusage(2) reports of it is some milliseconds old.)
    pub const THREAD: SystemClock = SystemClock(3);

    /// The clock with this number: 0 for the time of day, 1 for time since a start, 2 and 3 for processor time of the
    /// process and the thread; Linux has more. `None` if there is none.
    pub fn numbered(number: u32) -> Option<SystemClock> {
        platform::clock_ns(number).map(|_| SystemClock(number))
    }

    /// Its time in nanoseconds.
    pub fn now_ns(self) -> u64 {
        platform::clock_ns(self.0).unwrap_or(0)
    }

    /// Its time in milliseconds.
    pub fn now_ms(self) -> u64 {
        self.now_ns() / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_those_of_the_system() {
        let now = SystemClock::numbered(0).unwrap();
        // 2020 in milliseconds.
        assert!(now.now_ms() > 1_577_836_800_000);
        assert_eq!(SystemClock::numbered(10), None);
        assert_eq!(SystemClock::numbered(u32::MAX), None);
        assert!(SystemClock::THREAD.now_ns() < now.now_ns());
    }
}
