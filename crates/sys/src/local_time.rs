//! How far local time is from UTC, for the dates that reports print.
#![allow(unsafe_code)]

/// Seconds that local time is ahead of UTC now (`TZ`, /etc/localtime); zero
/// where that cannot be reported.
pub fn utc_offset_s() -> i32 {
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

#[cfg(test)]
mod tests {
    #[test]
    fn no_place_on_earth_is_more_than_fifteen_hours_off() {
        assert!(super::utc_offset_s().abs() <= 15 * 3600);
    }
}
