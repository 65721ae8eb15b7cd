//! Waiting for a word to change.
//!
//! The system's own wait for a word (WaitOnAddress) ends up to 16 ms late, as its clock ticks. The rest of a wait is
//! slept with timers of high resolution, which nobody can end: in steps, between which the word is looked at.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use windows_sys::Win32::System::Threading::{WaitOnAddress, WakeByAddressAll};

/// How long before its end a wait leaves the system's own.
const LATE: Duration = Duration::from_millis(20);
/// A step of the rest.
const STEP: Duration = Duration::from_millis(5);

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
    while word.load(Ordering::Acquire) == value {
        let left = limit.saturating_sub(began.elapsed());
        if left.is_zero() {
            return true;
        }
        match left.checked_sub(2 * LATE) {
            Some(long) => wait_on(word, value, long),
            None => std::thread::sleep(left.min(STEP)),
        }
    }
    false
}

fn wait_on(word: &AtomicU32, value: u32, limit: Duration) {
    let ms = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX - 1);
    // SAFETY: the system reads the word and `value`, both of four bytes, and both of which live longer than the call.
    unsafe {
        WaitOnAddress(word.as_ptr().cast(), (&raw const value).cast(), size_of::<u32>(), ms);
    }
}

/// Wake every thread that sleeps by `word`.
pub(crate) fn wake_all(word: &AtomicU32) {
    // SAFETY: the address is only compared with those of sleepers.
    unsafe { WakeByAddressAll(word.as_ptr().cast()) };
}
