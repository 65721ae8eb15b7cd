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
