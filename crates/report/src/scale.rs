//! Numbers in units a person reads, as fio writes them.
//!
//! Held to fio 3.33 by comparing a thousand of its rates and sizes with the
//! exact values of its JSON, for 1 to 10 significant figures.

/// The unit of a number: printed after its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixedUnit {
    /// Nothing: `1373k`.
    Plain,
    /// Bytes: `10.5GiB`.
    Bytes,
    /// Bytes per second: `10.5GiB/s`.
    BytesPerSecond,
    /// A rate given in bytes per second, printed in bits: `83.9Gibit/s`.
    BitsPerSecond,
}

/// Steps of 1024 or of 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrefixBase {
    /// Ki, Mi, Gi.
    Binary,
    /// k, M, G.
    Decimal,
}

impl PrefixBase {
    /// The base that `kb_base` names.
    pub fn of(kb_base: u32) -> PrefixBase {
        if kb_base == 1000 { PrefixBase::Decimal } else { PrefixBase::Binary }
    }

    /// The other one.
    pub fn other(self) -> PrefixBase {
        match self {
            PrefixBase::Binary => PrefixBase::Decimal,
            PrefixBase::Decimal => PrefixBase::Binary,
        }
    }

    fn step(self) -> u128 {
        match self {
            PrefixBase::Binary => 1024,
            PrefixBase::Decimal => 1000,
        }
    }

    fn prefixes(self) -> [&'static str; 7] {
        match self {
            PrefixBase::Binary => ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"],
            PrefixBase::Decimal => ["", "k", "M", "G", "T", "P", "E"],
        }
    }
}

/// `value` in at most `figures` figures, the point counted as one: divided by
/// the base until its whole part fits, and decimals in the room that is left.
pub fn human(value: u64, figures: u32, base: PrefixBase, unit: PrefixedUnit) -> String {
    let bits = if unit == PrefixedUnit::BitsPerSecond { 8 } else { 1 };
    let (mut whole, mut rest, mut prefix) = (u128::from(value) * bits, 0, 0);
    let room = figures.max(1) as usize;
    while digits(whole) > room && prefix < 6 {
        rest = whole % base.step();
        whole /= base.step();
        prefix += 1;
    }
    let name = base.prefixes()[prefix];
    let suffix = match unit {
        PrefixedUnit::Plain => "",
        PrefixedUnit::Bytes => "B",
        PrefixedUnit::BytesPerSecond => "B/s",
        PrefixedUnit::BitsPerSecond => "bit/s",
    };
    if prefix == 0 || digits(whole) + 1 >= room {
        let rounded = if rest * 2 >= base.step() { whole + 1 } else { whole };
        return format!("{rounded}{name}{suffix}");
    }
    let decimals = room - 1 - digits(whole);
    let fraction = format!("{:.decimals$}", rest as f64 / base.step() as f64);
    if fraction.starts_with('1') {
        whole += 1;
    }
    format!("{whole}{}{name}{suffix}", &fraction[1..])
}

fn digits(value: u128) -> usize {
    value.checked_ilog10().unwrap_or(0) as usize + 1
}

/// A unit of time in which fio prints latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FioTimeUnit {
    /// Nanoseconds.
    Nanos,
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
}

impl FioTimeUnit {
    /// fio's word for it.
    pub fn name(self) -> &'static str {
        match self {
            FioTimeUnit::Nanos => "nsec",
            FioTimeUnit::Micros => "usec",
            FioTimeUnit::Millis => "msec",
        }
    }

    /// How many nanoseconds it is.
    pub fn nanos(self) -> u64 {
        match self {
            FioTimeUnit::Nanos => 1,
            FioTimeUnit::Micros => 1_000,
            FioTimeUnit::Millis => 1_000_000,
        }
    }

    /// The unit in which fio prints a latency with these extremes and this
    /// deviation: a larger one is taken only when all three stay readable.
    pub fn for_line(min_ns: u64, max_ns: u64, stddev_ns: f64) -> FioTimeUnit {
        let fits = |unit: f64| {
            min_ns as f64 > 2.0 * unit && max_ns as f64 > 99.999 * unit && stddev_ns > unit
        };
        match (fits(1e3), fits(1e6)) {
            (true, true) => FioTimeUnit::Millis,
            (true, false) => FioTimeUnit::Micros,
            _ => FioTimeUnit::Nanos,
        }
    }

    /// The unit of a table of percentiles; the deviation has no say in it.
    pub fn for_table(min_ns: u64, max_ns: u64) -> FioTimeUnit {
        FioTimeUnit::for_line(min_ns, max_ns, f64::INFINITY)
    }
}

/// A percentage of a count, never printed as zero when it is more:
/// at least `least` (fio prints 0.01 % for classes, 0.1 % for depths).
pub fn percent(part: u64, whole: u64, least: f64) -> f64 {
    if part == 0 || whole == 0 {
        return 0.0;
    }
    (part as f64 * 100.0 / whole as f64).max(least)
}

/// A moment as ctime(3) writes it: `Sat Nov 21 07:00:43 2026`.
pub fn date(unix_ms: u64, utc_offset_s: i32) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let Civil { year, month, day, hour, minute, second, days } = civil(unix_ms, utc_offset_s);
    format!(
        "{} {} {day:2} {hour:02}:{minute:02}:{second:02} {year}",
        DAYS[(days % 7) as usize],
        MONTHS[month as usize - 1],
    )
}

/// A moment as `2026-11-21 07:00:43`.
pub fn timestamp(unix_ms: u64, utc_offset_s: i32) -> String {
    let Civil { year, month, day, hour, minute, second, .. } = civil(unix_ms, utc_offset_s);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// The same with the zone: `2026-03-01 09:05:00 +01:00`, or `UTC`.
pub fn timestamp_with_zone(unix_ms: u64, utc_offset_s: i32) -> String {
    let minutes = utc_offset_s.unsigned_abs() / 60;
    let sign = if utc_offset_s < 0 { '-' } else { '+' };
    let zone = match utc_offset_s {
        0 => "UTC".to_owned(),
        _ => format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60),
    };
    format!("{} {zone}", timestamp(unix_ms, utc_offset_s))
}

/// A moment by the calendar; months and days count from 1.
struct Civil {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    /// Since 1970.
    days: u64,
}

fn civil(unix_ms: u64, utc_offset_s: i32) -> Civil {
    let local = (unix_ms / 1000).saturating_add_signed(utc_offset_s.into());
    let (days, second) = (local / 86_400, local % 86_400);
    // Days to a date: Howard Hinnant, "chrono-compatible low-level date
    // algorithms", civil_from_days; eras are not needed after 1970.
    let z = days + 719_468;
    let (era, of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month < 3);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    Civil { year, month, day, hour, minute, second: second % 60, days }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_fio_writes_them() {
        let bytes = |value, base| human(value, 4, base, PrefixedUnit::Bytes);
        assert_eq!(bytes(1024, PrefixBase::Binary), "1024B");
        assert_eq!(bytes(10_000, PrefixBase::Binary), "9.77KiB");
        assert_eq!(bytes(8_196_096, PrefixBase::Binary), "8004KiB");
        assert_eq!(bytes(36_853_080, PrefixBase::Binary), "35.1MiB");
        // The fraction is that of a float: 0.95 is a little less than that.
        assert_eq!(bytes(99_950_000, PrefixBase::Decimal), "99.9MB");
        assert_eq!(bytes(87_550_306_000, PrefixBase::Decimal), "87.6GB");
        assert_eq!(bytes(9_996_000, PrefixBase::Decimal), "9996kB");
        assert_eq!(bytes(99_960_000, PrefixBase::Decimal), "100.0MB");
        assert_eq!(human(5_712_778, 10, PrefixBase::Decimal, PrefixedUnit::Plain), "5712778");
        assert_eq!(human(26_429_000_000, 1, PrefixBase::Binary, PrefixedUnit::Bytes), "0TiB");
        assert_eq!(human(40_918, 4, PrefixBase::Binary, PrefixedUnit::BitsPerSecond), "320Kibit/s");
        assert_eq!(human(u64::MAX, 1, PrefixBase::Decimal, PrefixedUnit::Bytes), "18EB");
    }

    #[test]
    fn a_larger_unit_of_time_needs_all_three_numbers() {
        assert_eq!(FioTimeUnit::for_line(2_001, 100_000, 1_001.0), FioTimeUnit::Micros);
        assert_eq!(FioTimeUnit::for_line(2_000, 100_000, 1_001.0), FioTimeUnit::Nanos);
        assert_eq!(FioTimeUnit::for_line(2_001, 99_999, 1_001.0), FioTimeUnit::Nanos);
        assert_eq!(FioTimeUnit::for_line(2_001, 100_000, 1_000.0), FioTimeUnit::Nanos);
        assert_eq!(FioTimeUnit::for_line(3_000_000, 200_000_000, 2e6), FioTimeUnit::Millis);
        assert_eq!(FioTimeUnit::for_table(2_001, 100_000), FioTimeUnit::Micros);
    }

    #[test]
    fn dates_are_those_of_ctime_and_of_iso_8601() {
        assert_eq!(timestamp(1_795_244_443_000, 0), "2026-11-21 07:00:43");
        assert_eq!(timestamp(951_782_399_000, 3600), "2000-02-29 00:59:59");
        assert_eq!(date(1_795_244_443_694, 0), "Sat Nov 21 07:00:43 2026");
        assert_eq!(date(0, 0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(date(1_709_164_800_000, 3600), "Thu Feb 29 01:00:00 2024");
    }
}
