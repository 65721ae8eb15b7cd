//! A count that one thread writes and any thread reads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A count that one thread writes and any thread reads: a plain load and a
/// plain store, no locked instruction. [`crate::CountersWriter`] sees to it that there is
/// one writer; with two, counts would be lost, but nothing worse.
#[derive(Debug, Default, zerocopy::FromZeros)]
pub struct Tally(AtomicU64);

impl Tally {
    /// A count that starts at `n`.
    pub const fn new(n: u64) -> Tally {
        Tally(AtomicU64::new(n))
    }

    /// Count `n` more.
    #[inline(always)]
    pub fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    /// Keep the larger of the count and `n`.
    #[inline(always)]
    pub fn raise(&self, n: u64) {
        if n > self.0.load(Relaxed) {
            self.0.store(n, Relaxed);
        }
    }

    /// Keep the smaller of the count and `n`.
    #[inline(always)]
    pub fn lower(&self, n: u64) {
        if n < self.0.load(Relaxed) {
            self.0.store(n, Relaxed);
        }
    }

    /// Put `n` in its place.
    #[inline(always)]
    pub fn set(&self, n: u64) {
        self.0.store(n, Relaxed);
    }

    /// The count now.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
