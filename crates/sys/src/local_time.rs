//! How far local time is from UTC, for the dates that reports print.

/// Seconds that local time is ahead of UTC now (`TZ`, /etc/localtime); zero
/// where that cannot be reported.
pub fn utc_offset_s() -> i32 {
    crate::platform::utc_offset_s()
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_place_on_earth_is_more_than_fifteen_hours_off() {
        assert!(super::utc_offset_s().abs() <= 15 * 3600);
    }
}
