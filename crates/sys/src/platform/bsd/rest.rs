//! Waiting for a word to change: these systems have no call for it that programs may use, so all who wait do it at one
//! condition variable. It is rung a few times in a run.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

static WAITING: Mutex<()> = Mutex::new(());
static RUNG: Condvar = Condvar::new();

/// Sleep while `word` is `value`, `limit_ns` at most.
pub(crate) fn wait_while(word: &AtomicU32, value: u32, limit_ns: u64) {
    let _ = rest(word, value, Duration::from_nanos(limit_ns));
}

/// The same for less than a second. Whether all of that passed: not if the word is another, or changed.
#[inline(always)]
pub(crate) fn outlast(word: &AtomicU32, value: u32, limit_ns: u32) -> bool {
    rest(word, value, Duration::from_nanos(limit_ns.into()))
}

fn rest(word: &AtomicU32, value: u32, limit: Duration) -> bool {
    let began = Instant::now();
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    while word.load(Ordering::Acquire) == value {
        let left = limit.saturating_sub(began.elapsed());
        if left.is_zero() {
            return true;
        }
        let woken = RUNG.wait_timeout(waiting, left);
        waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
    }
    false
}

/// Wake every thread that sleeps by `word`.
pub(crate) fn wake_all(_: &AtomicU32) {
    // Who has looked at the word and does not sleep yet holds the lock.
    drop(WAITING.lock().unwrap_or_else(PoisonError::into_inner));
    RUNG.notify_all();
}
