//! The clock that only goes forward, and how far local time is from UTC.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use windows_sys::Win32::System::Performance as performance;
use windows_sys::Win32::System::Time as time;

/// QueryPerformanceCounter, in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    let frequency = *FREQUENCY.get_or_init(|| read(performance::QueryPerformanceFrequency).max(1));
    let ticks = read(performance::QueryPerformanceCounter);
    (u128::from(ticks) * 1_000_000_000 / u128::from(frequency)) as u64
}

fn read(call: unsafe extern "system" fn(*mut i64) -> i32) -> u64 {
    let mut value = 0;
    // SAFETY: both calls write one number, for which there is space; neither fails since Windows XP.
    unsafe { call(&raw mut value) };
    value.unsigned_abs()
}

// TIME_ZONE_ID_UNKNOWN, _STANDARD and _DAYLIGHT of <winnt.h>.
const NEITHER: u32 = 0;
const STANDARD: u32 = 1;
const DAYLIGHT: u32 = 2;

/// Seconds that local time is ahead of UTC now.
pub(crate) fn utc_offset_s() -> i32 {
    let mut zone = time::TIME_ZONE_INFORMATION::default();
    // SAFETY: the call fills the structure that it is lent.
    let bias = match unsafe { time::GetTimeZoneInformation(&raw mut zone) } {
        STANDARD => zone.Bias + zone.StandardBias,
        DAYLIGHT => zone.Bias + zone.DaylightBias,
        NEITHER => zone.Bias,
        _ => 0,
    };
    // In minutes that UTC is ahead.
    -60 * bias
}

/// The time of a clock by Linux's number: of the day, since a start, of the process and of the thread.
pub(crate) fn clock_ns(number: u32) -> Option<u64> {
    let used = |usage: std::io::Result<crate::counters::Usage>| {
        usage.ok().map(|usage| usage.user_ns.saturating_add(usage.system_ns))
    };
    match number {
        0 => u64::try_from(iosonde_base::time::since_1970().as_nanos()).ok(),
        1 => Some(monotonic_ns()),
        2 => used(super::usage_of_process()),
        3 => used(super::usage_of_thread()),
        _ => None,
    }
}
