//! A bell that one thread rings to wake another before its time.

use crate::platform;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
};
use std::time::Duration;

/// How a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Slept {
    /// The moment has come.
    Through,
    /// The bell was rung before.
    Woken,
}

/// Rung once, it stays rung: a thread that is not asleep
/// yet does not miss it. One word that the system watches: a wait is one call.
#[derive(Debug, Default)]
pub struct Bell(AtomicU32);

impl Bell {
    /// A silent bell.
    pub const fn new() -> Bell {
        Bell(AtomicU32::new(0))
    }

    /// Wake the sleepers on this bell, now or later.
    pub fn ring(&self) {
        self.0.store(1, Release);
        platform::wake_all(&self.0);
    }

    /// Whether it has been rung.
    pub(crate) fn is_rung(&self) -> bool {
        self.0.load(Acquire) != 0
    }

    /// Wait for the bell, `limit` at most; less if a signal comes. Returns
    /// whether it has been rung.
    pub fn wait(&self, limit: Duration) -> bool {
        self.wait_ns(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX))
    }

    /// The same, the limit in nanoseconds.
    pub fn wait_ns(&self, limit_ns: u64) -> bool {
        if !self.is_rung() {
            platform::wait_while(&self.0, 0, limit_ns);
        }
        self.is_rung()
    }
}

impl Bell {
    /// Sleep for `ns` nanoseconds, less than a second. Whether it did:
    /// not if the bell has been rung, nor if a signal came.
    #[inline(always)]
    pub(super) fn sleeps_through(&self, ns: u32) -> bool {
        platform::outlast(&self.0, 0, ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_rung_before_the_wait_ends_it_at_once() {
        let bell = Bell::new();
        bell.ring();
        assert!(bell.wait(Duration::MAX));
    }

    #[test]
    fn a_silent_bell_lets_the_wait_run_out() {
        assert!(!Bell::new().wait(Duration::from_micros(50)));
    }

    #[test]
    fn a_short_sleep_is_slept_through_unless_the_bell_has_been_rung() {
        let bell = Bell::new();
        while !bell.sleeps_through(50_000) {
            // A signal came.
        }
        bell.ring();
        assert!(!bell.sleeps_through(999_999_999));
    }
}
