//! A bell that one thread rings to wake another before its time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a sleep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Slept {
    /// The moment has come.
    Through,
    /// The bell was rung before.
    Woken,
}

/// Rung once, it stays rung until [`Bell::hush`]: a thread that is not asleep
/// yet does not miss it.
#[derive(Debug, Default)]
pub struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    /// A silent bell.
    pub const fn new() -> Bell {
        Bell { rung: Mutex::new(false), heard: Condvar::new() }
    }

    /// Wake whoever sleeps by this bell, now or later.
    pub fn ring(&self) {
        *self.lock() = true;
        self.heard.notify_all();
    }

    /// Silence it. Returns whether it had been rung.
    pub fn hush(&self) -> bool {
        std::mem::take(&mut *self.lock())
    }

    /// Whether it has been rung and not silenced.
    pub fn is_rung(&self) -> bool {
        *self.lock()
    }

    /// Wait for the bell, `limit` at most. Returns whether it has been rung.
    pub fn wait(&self, limit: Duration) -> bool {
        // A limit past the end of `Instant` is no limit; wake up yearly.
        let end = Instant::now().checked_add(limit);
        let mut rung = self.lock();
        while !*rung {
            let left = match end {
                Some(end) => end.saturating_duration_since(Instant::now()),
                None => Duration::from_secs(365 * 86_400),
            };
            if left.is_zero() {
                break;
            }
            rung = self.heard.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *rung
    }

    // A flag cannot be left half-written, so a poisoned lock is as good as any.
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn a_hushed_bell_is_silent_again() {
        let bell = Bell::new();
        bell.ring();
        assert!(bell.hush());
        assert!(!bell.is_rung());
        assert!(!bell.hush());
    }
}
