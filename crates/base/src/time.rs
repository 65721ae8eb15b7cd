//! Moments and spans on the run's clock, and the time of day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time of day since 1970 (UTC, without leap seconds); zero where the clock is set to
/// before that.
pub fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The time of day in whole milliseconds since 1970.
pub fn unix_ms() -> u64 {
    since_1970().as_millis() as u64
}

/// The time of day in nanoseconds since 1970.
pub fn unix_ns() -> u64 {
    since_1970().as_nanos() as u64
}

/// Nanoseconds: a moment on the run's clock, or a span between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// A moment that never comes.
    pub const NEVER: Nanos = Nanos(u64::MAX);

    /// A span of whole seconds.
    pub const fn from_secs(secs: u64) -> Nanos {
        Nanos(secs.saturating_mul(1_000_000_000))
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Nanos {
        Nanos(millis.saturating_mul(1_000_000))
    }

    /// A span of whole microseconds.
    pub const fn from_micros(micros: u64) -> Nanos {
        Nanos(micros.saturating_mul(1_000))
    }

    /// Whole milliseconds, rounded down.
    pub const fn millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds with their fraction.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span since `earlier`, zero if `earlier` is later.
    pub const fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// This moment put off by `span`; saturates at [`Nanos::NEVER`].
    pub const fn plus(self, span: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(span.0))
    }
}
