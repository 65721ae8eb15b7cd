//! Numbers as text: bytes, rates, counts, shares, durations.
//!
//! One rule for all: three significant digits, a space, a unit. What was measured keeps its
//! zeroes, so `3.00 s` stands next to `3.01 s` and `10.0 %` next to `10.1 %`; what was chosen
//! (limits, windows, values of an axis) has none ([`short_duration`], [`short_percent`]). Bytes
//! that are whole in their unit have no decimals (`4 KiB`), so `1.00 GiB` says that it was
//! rounded. Bytes and rates have IEC units (powers of 1024), counts have SI prefixes (powers
//! of 1000) without a space (`1.37M`).
//!
//! fio's own formats have rules of their own and do not use this module.

/// Powers of 1024.
const IEC_UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// A number of bytes: `512 B`, `4 KiB`, `10.5 GiB`.
pub fn bytes(bytes: u64) -> String {
    let (value, unit) = in_iec(bytes);
    let whole = bytes.is_multiple_of(1 << (10 * unit));
    format!("{} {}", digits(value, whole), IEC_UNITS[unit])
}

/// A number of bytes in its unit.
fn in_iec(bytes: u64) -> (f64, usize) {
    let mut unit = 0;
    let mut value = bytes as f64;
    // 1023.5 would be rounded to 1024.
    while value >= 1023.5 && unit + 1 < IEC_UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    (value, unit)
}

/// A number of bytes without rounding, in the largest unit that allows it:
/// `4 KiB`, `1000 B`, `1025 KiB`.
pub fn exact_bytes(bytes: u64) -> String {
    let unit = match bytes {
        0 => 0,
        _ => (bytes.trailing_zeros() / 10) as usize,
    };
    format!("{} {}", bytes >> (10 * unit), IEC_UNITS[unit])
}

/// A rate in bytes per second: `160 MiB/s`, `2.00 GiB/s`. Rounded to whole bytes.
pub fn rate(bytes_per_s: f64) -> String {
    // A float that does not fit is cut to the ends of the range.
    let (value, unit) = in_iec(bytes_per_s.round() as u64);
    format!("{} {}/s", digits(value, unit == 0), IEC_UNITS[unit])
}

/// A count or a rate without unit: `7`, `82.5`, `2.00k`, `262k`, `1.37M`.
pub fn count(value: f64) -> String {
    const PREFIXES: [&str; 6] = ["", "k", "M", "G", "T", "P"];
    let mut prefix = 0;
    let mut scaled = value;
    // 999.5 would have four digits.
    while scaled >= 999.5 && prefix + 1 < PREFIXES.len() {
        scaled /= 1000.0;
        prefix += 1;
    }
    if value > 0.0 && value < 0.001 {
        return "<0.001".to_owned();
    }
    let is_whole = prefix == 0 && scaled.fract() == 0.0;
    format!("{}{}", digits(scaled, is_whole), PREFIXES[prefix])
}

/// A share from 0 to 1 in percent with one decimal: `0 %`, `<0.1 %`, `7.0 %`,
/// `99.9 %`, `100 %`. All and nothing are printed for exactly all and exactly
/// nothing only, and have none; neither has what is above all.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value < 0.0 {
        return format!("-{}", percent(-share));
    }
    if value > 0.0 && value < 0.05 {
        return "<0.1 %".to_owned();
    }
    if (99.95..100.0).contains(&value) {
        return "99.9 %".to_owned();
    }
    let decimals = if value > 0.0 && value < 100.0 { 1 } else { 0 };
    format!("{value:.decimals$} %")
}

/// As [`percent`], for what was chosen: `5 %`, `99.9 %`.
pub fn short_percent(share: f64) -> String {
    without_zeroes(&percent(share))
}

/// `part` of `whole` in percent; of nothing, nothing.
pub fn percent_of(part: u64, whole: u64) -> String {
    match whole {
        0 => percent(0.0),
        // The division of two large numbers that differ may be 1.
        _ if part == whole => percent(1.0),
        _ if part < whole => percent((part as f64 / whole as f64).min(0.999_999)),
        _ => percent(part as f64 / whole as f64),
    }
}

/// A duration in nanoseconds: `523 ns`, `12.0 us`, `1.24 ms`, `30.0 s`. From
/// 1000 s on in whole seconds.
pub fn duration(ns: u64) -> String {
    let (unit_ns, unit) = match ns {
        0..1_000 => (1, "ns"),
        1_000..999_500 => (1_000, "us"),
        999_500..999_500_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    format!("{} {unit}", digits(ns as f64 / unit_ns as f64, unit_ns == 1))
}

/// A duration that is known in whole milliseconds: `35 ms`, `3.00 s`.
pub fn duration_of_ms(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { duration(ms.saturating_mul(1_000_000)) }
}

/// As [`duration`], for what was chosen: `500 ms`, `1.5 s`, `30 s`.
pub fn short_duration(ns: u64) -> String {
    without_zeroes(&duration(ns))
}

/// A number and its unit, without zeroes at the end of a fraction.
fn without_zeroes(text: &str) -> String {
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text.to_owned(),
    }
}

/// How many of something: `1 job`, `3 jobs`, `2 flushes`, `2 directories`.
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 {
        return format!("{count} {noun}");
    }
    let is_sibilant = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    let stem = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match stem {
        Some(stem) => format!("{count} {stem}ies"),
        None if is_sibilant => format!("{count} {noun}es"),
        None => format!("{count} {noun}s"),
    }
}

/// How long something will take, roughly: `45 s`, `12 min`, `3.5 h`.
pub fn rough_time(seconds: f64) -> String {
    match seconds {
        0.0..120.0 => format!("{:.0} s", seconds.ceil()),
        120.0..7200.0 => format!("{:.0} min", (seconds / 60.0).ceil()),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// A number in three significant digits, or all of those before the point: `0.296`, `3.33`,
/// `1024`.
pub fn significant(value: f64) -> String {
    digits(value, false)
}

/// `value` in three significant digits, or all of those before the point.
/// `whole` values have no decimals.
fn digits(value: f64, whole: bool) -> String {
    let decimals = match value {
        _ if whole => 0,
        value if value < 0.9995 => 3,
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_three_digits_and_whole_ones_no_decimals() {
        assert_eq!(
            [0, 512, 1000, 1023, 1024, 4097, 1 << 20].map(bytes),
            ["0 B", "512 B", "1000 B", "1023 B", "1 KiB", "4.00 KiB", "1 MiB"]
        );
        assert_eq!(
            [(1 << 20) - 1, 1000 << 20, 3 << 29, u64::MAX].map(bytes),
            ["1.00 MiB", "1000 MiB", "1.50 GiB", "16.0 EiB"]
        );
        assert_eq!(
            [0, 1000, 4096, 1025 << 10].map(exact_bytes),
            ["0 B", "1000 B", "4 KiB", "1025 KiB"]
        );
        assert_eq!(
            [0.4, 168e6, 1e30, -1.0].map(rate),
            ["0 B/s", "160 MiB/s", "16.0 EiB/s", "0 B/s"]
        );
        assert_eq!(
            [999.0, 4096.0, 10.0 * 1048576.0, 2147483648.0].map(rate),
            ["999 B/s", "4.00 KiB/s", "10.0 MiB/s", "2.00 GiB/s"]
        );
        assert_eq!(
            [0.0, 1e-4, 0.5, 82.5, 999.4, 999.5, 1000.0, 1_373_522.0].map(count),
            ["0", "<0.001", "0.500", "82.5", "999", "1.00k", "1.00k", "1.37M"]
        );
    }

    #[test]
    fn durations_change_their_unit_before_a_fourth_digit() {
        assert_eq!(
            [0, 523, 12_100, 999_499, 999_500, 1_000_000].map(duration),
            ["0 ns", "523 ns", "12.1 us", "999 us", "1.00 ms", "1.00 ms"]
        );
        assert_eq!(
            [2_050_000_000, 2_999_000_000, 30_010_000_000, 3_600_500_000_000].map(duration),
            ["2.05 s", "3.00 s", "30.0 s", "3600 s"]
        );
    }

    #[test]
    fn almost_all_is_not_all_and_almost_nothing_is_not_nothing() {
        assert_eq!(
            [0.0, 1e-9, 0.0005, 0.07, 0.125, 0.999_96, 1.0, 2.504].map(percent),
            ["0 %", "<0.1 %", "0.1 %", "7.0 %", "12.5 %", "99.9 %", "100 %", "250 %"]
        );
        assert_eq!([0.1, 0.101].map(percent), ["10.0 %", "10.1 %"]);
        assert_eq!(percent(-0.02), "-2.0 %");
        assert_eq!(percent_of(0, 0), "0 %");
        assert_eq!(percent_of(u64::MAX - 1, u64::MAX), "99.9 %");
        assert_eq!(percent_of(u64::MAX, u64::MAX), "100 %");
        assert_eq!(percent_of(3, 2), "150 %");
    }

    #[test]
    fn what_was_chosen_has_no_zeroes_at_its_end() {
        assert_eq!(
            [5, 10_000, 500_000_000, 1_500_000_000, 30_000_000_000].map(short_duration),
            ["5 ns", "10 us", "500 ms", "1.5 s", "30 s"]
        );
        assert_eq!(
            [4, 999, 1000, 12_345].map(duration_of_ms),
            ["4 ms", "999 ms", "1.00 s", "12.3 s"]
        );
        assert_eq!([0.05, 0.999, 1.0, 0.0].map(short_percent), ["5 %", "99.9 %", "100 %", "0 %"]);
    }

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "job")), ["0 jobs", "1 job", "2 jobs"]);
        assert_eq!(
            [1, 2].map(|n| counted(n, "context switch")),
            ["1 context switch", "2 context switches"]
        );
    }

    /// The number that a text stands for, in its smallest unit.
    fn read(text: &str) -> f64 {
        const UNITS: [(&str, f64); 18] = [
            (" B", 1.0),
            (" KiB", 1024.0),
            (" MiB", 1_048_576.0),
            (" GiB", 1_073_741_824.0),
            (" TiB", 1_099_511_627_776.0),
            (" PiB", 1_125_899_906_842_624.0),
            (" EiB", 1_152_921_504_606_846_976.0),
            (" ns", 1.0),
            (" us", 1e3),
            (" ms", 1e6),
            (" s", 1e9),
            (" %", 0.01),
            ("k", 1e3),
            ("M", 1e6),
            ("G", 1e9),
            ("T", 1e12),
            ("P", 1e15),
            ("", 1.0),
        ];
        let at = text.find(|one: char| one != '.' && !one.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(at);
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit).expect(unit);
        number.parse::<f64>().expect(text) * scale
    }

    /// Values of all magnitudes, and beside the limits of units.
    fn numbers() -> impl Strategy<Value = u64> {
        let limits = (0..64u32, 0..2u64).prop_map(|(bit, less)| (1u64 << bit) - less);
        let tens = (0..19u32, 0..100_000u64)
            .prop_map(|(power, less)| 10u64.pow(power).saturating_sub(less));
        prop_oneof![(any::<u64>(), 0..64u32).prop_map(|(n, bits)| n >> bits), limits, tens]
    }

    fn within_half_a_digit(read: f64, value: f64) -> bool {
        // Three digits: 1.00 stands for 0.995 to 1.005.
        (read - value).abs() <= value * 0.005 + f64::EPSILON
    }

    proptest! {
        #[test]
        fn a_number_reads_back_within_its_rounding(n in numbers()) {
            for text in [bytes(n), count(n as f64), duration(n)] {
                prop_assert!(within_half_a_digit(read(&text), n as f64), "{n}: {text}");
            }
            let rate = rate(n as f64);
            let per_second = rate.strip_suffix("/s").unwrap();
            prop_assert!(within_half_a_digit(read(per_second), n as f64), "{n}: {rate}");
            let exact = exact_bytes(n);
            prop_assert_eq!(read(&exact), n as f64, "{}", exact);
        }

        #[test]
        fn more_never_reads_as_less(a in numbers(), b in numbers(), near in 0..2000u64) {
            for b in [b, a.saturating_add(near)] {
                let (small, large) = (a.min(b), a.max(b));
                for number in [bytes, duration, |n| count(n as f64)] {
                    let (left, right) = (number(small), number(large));
                    prop_assert!(read(&left) <= read(&right), "{small} {left}, {large} {right}");
                }
            }
        }

        #[test]
        fn a_number_is_narrow(n in numbers(), share in 0.0..1.0f64) {
            prop_assert!(bytes(n).len() <= "1023 KiB".len());
            prop_assert!(duration(n % 999_500_000_000).len() <= "12.1 us".len());
            prop_assert!(count((n % 1_000_000_000_000_000_000) as f64).len() <= "1.37M".len());
            prop_assert!(percent(share).len() <= "99.9 %".len());
        }

        #[test]
        fn shares_keep_their_order_and_read_back(a in 0.0..1.5f64, b in 0.0..1.5f64) {
            let value = |share: f64| match percent(share).as_str() {
                "<0.1 %" => 0.000_25,
                text => read(text),
            };
            prop_assert!((value(a) - a).abs() <= if a < 1.0 { 0.0011 } else { 0.0051 }, "{a}");
            prop_assert!(value(a.min(b)) <= value(a.max(b)), "{a} {b}");
        }
    }
}
