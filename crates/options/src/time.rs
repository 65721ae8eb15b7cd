//! Spans of time.

use iosonde_base::Nanos;

use crate::{OptionValue, ParseContext, TimeUnit, ValueError, ValueKind};

const MICRO: u64 = 1_000;

/// Microseconds in one of fio's units of time, in lower case.
pub fn time_unit_us(unit: &str) -> Option<u64> {
    Some(match unit {
        "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    })
}

/// A span, written with `d h m s ms us` (or `msec`, `usec`) or in the row's own unit. As in
/// fio, any other suffix leaves the number in microseconds: `10sec` is 10 us.
/// That is kept, with a warning.
impl OptionValue for Nanos {
    const KIND: ValueKind = ValueKind::Time;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let want = || ValueError::new("a time such as 10s or 500ms", text);
        crate::number::not_zones(text, context)?;
        let body = text.trim();
        let body = body.strip_prefix('+').unwrap_or(body);
        let end = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
        let count: u64 = body[..end].parse().map_err(|_| want())?;
        let after = &body[end..];
        let letters = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(after.len());
        if !after[..letters].trim().is_empty() {
            context.doubt(format!("{:?} after {count} is ignored", &after[..letters]));
        }
        let unit = match after[letters..].to_ascii_lowercase().as_str() {
            "" if context.row.unit == TimeUnit::Seconds => 1_000_000 * MICRO,
            "" => MICRO,
            unit => {
                MICRO
                    * time_unit_us(unit).unwrap_or_else(|| {
                        context.doubt(format!(
                    "unknown unit of time {unit:?}: interpreted as {count} microseconds, as in fio"
                ));
                        1
                    })
            }
        };
        count.checked_mul(unit).map(Nanos).ok_or_else(want)
    }
    fn show(&self) -> String {
        let micros = self.0 / MICRO;
        match micros {
            _ if micros.is_multiple_of(1_000_000) => format!("{}s", micros / 1_000_000),
            _ if micros.is_multiple_of(1_000) => format!("{}ms", micros / 1_000),
            _ => format!("{micros}us"),
        }
    }
}

/// A span in whole milliseconds, written as a plain number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// The same span in nanoseconds.
    pub const fn nanos(self) -> Nanos {
        Nanos::from_millis(self.0)
    }
}

impl OptionValue for Millis {
    const KIND: ValueKind = ValueKind::Int;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        // fio reads these as plain numbers, so that 10ms is 10m: 10485760 milliseconds.
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
        if matches!(unit.as_str(), "ms" | "msec" | "m") {
            context.doubt(format!(
                "the value is a plain number of milliseconds, and {unit} multiplies it by 1048576"
            ));
        }
        u64::parse(text, context).map(Millis)
    }
    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// A span, or a range from which one is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SpanRange {
    /// The shortest.
    pub low: Nanos,
    /// The longest; equal to `low` when nothing is drawn.
    pub high: Nanos,
}

impl OptionValue for SpanRange {
    const KIND: ValueKind = ValueKind::Time;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let (low, high) = text.split_once(['-', ':', ',']).unwrap_or((text, text));
        let (low, high) = (Nanos::parse(low, context)?, Nanos::parse(high, context)?);
        Ok(SpanRange { low: low.min(high), high: low.max(high) })
    }
    fn show(&self) -> String {
        if self.low == self.high {
            self.low.show()
        } else {
            format!("{}-{}", self.low.show(), self.high.show())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OptionDef;

    static SECONDS: OptionDef = OptionDef { name: "x", ..OptionDef::BLANK };
    static MICROS: OptionDef = OptionDef { name: "x", unit: TimeUnit::Micros, ..OptionDef::BLANK };

    fn micros(text: &str, row: &'static OptionDef) -> Option<u64> {
        Nanos::parse(text, &mut ParseContext::new(row)).ok().map(|span| span.0 / 1000)
    }

    #[test]
    fn units_and_the_rows_own_unit() {
        for (text, want) in [
            ("10", 10_000_000),
            ("10s", 10_000_000),
            ("10S", 10_000_000),
            ("10 s", 10_000_000),
            ("10m", 600_000_000),
            ("10h", 36_000_000_000),
            ("10d", 864_000_000_000),
            ("10ms", 10_000),
            ("10msec", 10_000),
            ("10us", 10),
            ("10usec", 10),
        ] {
            assert_eq!(micros(text, &SECONDS), Some(want), "{text}");
        }
        assert_eq!(micros("10", &MICROS), Some(10));
        assert_eq!(micros("10s", &MICROS), Some(10_000_000));
    }

    #[test]
    fn an_unknown_unit_is_microseconds_and_is_reported() {
        let mut context = ParseContext::new(&SECONDS);
        assert_eq!(Nanos::parse("10sec", &mut context), Ok(Nanos(10_000)));
        assert_eq!(context.doubts.len(), 1);
        assert_eq!(
            Nanos::parse("10s", &mut ParseContext::new(&SECONDS)),
            Ok(Nanos(10_000_000_000))
        );
    }

    #[test]
    fn no_time_is_refused() {
        for text in ["", "abc", "s", "-1", "18446744073709551616", "999999999d"] {
            assert_eq!(micros(text, &SECONDS), None, "{text}");
        }
    }

    #[test]
    fn a_range_is_put_in_order() {
        let range = SpanRange::parse("20-10s", &mut ParseContext::new(&SECONDS)).expect("a range");
        assert_eq!(range.show(), "10s-20s");
    }

    #[test]
    fn milliseconds_with_a_unit_are_what_fio_makes_of_them_and_reported() {
        let mut context = ParseContext::new(&SECONDS);
        assert_eq!(Millis::parse("10ms", &mut context), Ok(Millis(10 << 20)));
        assert!(!context.doubts.is_empty());
    }
}
