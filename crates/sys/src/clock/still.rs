//! Time that stands until it is moved, for simulation and for tests.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Bell, Slept};

/// The hand of a still clock. Copies move the same hand, from any thread.
#[derive(Clone, Copy, Debug)]
pub struct Still(&'static AtomicU64);

impl Still {
    /// A new hand, at `ns` nanoseconds. Its eight bytes are never given back,
    /// so that clocks can be copied: make one for a simulation, not one for
    /// each step of it.
    pub fn at(ns: u64) -> Still {
        Still(Box::leak(Box::new(AtomicU64::new(ns))))
    }

    /// Where the hand is, in nanoseconds.
    pub fn now_ns(self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Put the hand at `ns`, even if that is back in time.
    pub fn set(self, ns: u64) {
        self.0.store(ns, Ordering::Release);
    }

    /// Move the hand `ns` nanoseconds on; it stops at `u64::MAX`.
    pub fn advance(self, ns: u64) {
        // The closure never refuses, so neither does the update.
        let _ = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| Some(now.saturating_add(ns)));
    }

    /// Jump to `moment` unless that is past, or `bell` has been rung.
    pub(super) fn sleep_until(self, moment: u64, bell: Option<&Bell>) -> Slept {
        if bell.is_some_and(Bell::is_rung) {
            return Slept::Woken;
        }
        self.0.fetch_max(moment, Ordering::AcqRel);
        Slept::Through
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_move_one_hand() {
        let hand = Still::at(10);
        let copy = hand;
        copy.advance(5);
        assert_eq!(hand.now_ns(), 15);
        hand.set(3);
        assert_eq!(copy.now_ns(), 3);
    }

    #[test]
    fn the_hand_stops_at_the_end_of_time() {
        let hand = Still::at(u64::MAX - 1);
        hand.advance(100);
        assert_eq!(hand.now_ns(), u64::MAX);
    }

    #[test]
    fn a_rung_bell_keeps_the_hand_where_it_is() {
        let (hand, bell) = (Still::at(1), Bell::new());
        bell.ring();
        assert_eq!(hand.sleep_until(100, Some(&bell)), Slept::Woken);
        assert_eq!(hand.now_ns(), 1);
    }
}
