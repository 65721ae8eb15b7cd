//! The clock that only goes forward, and how far local time is from UTC.
#![allow(unsafe_code)]

/// `CLOCK_MONOTONIC` in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // The kernel keeps both parts of this clock non-negative.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Seconds that local time is ahead of UTC now (`TZ`, /etc/localtime).
pub(crate) fn utc_offset_s() -> i32 {
    // SAFETY: `time` takes a null pointer by its manual; `localtime_r` reads
    // `now` and writes `parts`, both of which live here, and `parts` is plain
    // data for which all zeroes is a value.
    unsafe {
        let now = libc::time(std::ptr::null_mut());
        let mut parts: libc::tm = std::mem::zeroed();
        if libc::localtime_r(&now, &mut parts).is_null() {
            return 0;
        }
        i32::try_from(parts.tm_gmtoff).unwrap_or(0)
    }
}

/// The time of a clock of clock_gettime(2), by this system's number.
fn gettime(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure that it is lent.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    let ns = u64::try_from(time.tv_nsec).unwrap_or(0);
    Some(u64::try_from(time.tv_sec).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(ns))
}

/// The time of a clock by Linux's number.
pub(crate) fn clock_ns(number: u32) -> Option<u64> {
    let clock = match number {
        0 => libc::CLOCK_REALTIME,
        1 => libc::CLOCK_MONOTONIC,
        2 => libc::CLOCK_PROCESS_CPUTIME_ID,
        3 => libc::CLOCK_THREAD_CPUTIME_ID,
        other => crate::platform::other_clock(other)?,
    };
    gettime(clock)
}
