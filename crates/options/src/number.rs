//! Whole numbers and sizes, read as fio reads them.
//!
//! fio stops at the first letter it does not know and keeps what it has: `1.5m` is 1. We keep
//! the value, because job files rely on it, and say so; what makes no sense at all (a negative
//! size, a number past 63 bits) is refused.

use crate::{OptionValue, ParseContext, ValueError, ValueKind};

/// Characters that end a number: `4k-8k`, `4k:8k`, `4k,8k`, `4k/50`.
const ENDS: [char; 4] = [':', '-', ',', '/'];

/// A number read from the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    /// Its value, the suffix multiplied in.
    pub value: i128,
    /// What follows it directly; begins with a separator, a percent sign or nothing.
    pub rest: &'a str,
    /// Whether it carried a suffix.
    pub scaled: bool,
}

/// Reads a decimal or `0x` number with an optional size suffix from the start of `text`.
///
/// Suffixes are `k m g t p`, alone or followed by `b`, `i`, `ib`, in any case. With
/// `kb_base=1024` (the default) `4k` is 4096 and `4kib` is 4000; with `kb_base=1000` they are
/// 4000 and 4096. Letters that are no suffix are dropped and noted as a doubt.
pub fn scan_number<'a>(
    text: &'a str,
    context: &mut ParseContext,
) -> Result<Number<'a>, ValueError> {
    let want = || ValueError::new("a number such as 8 or 4k", text);
    let body = text.trim();
    let (negative, digits) = match body.strip_prefix(['-', '+']) {
        Some(rest) => (body.starts_with('-'), rest),
        None => (false, body),
    };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let (radix, digits) = hex.map_or((10, digits), |digits| (16, digits));
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let magnitude = i64::from_str_radix(&digits[..end], radix).map_err(|_| want())?;
    let after = &digits[end..];
    let stop = after.find(ENDS).unwrap_or(after.len());
    let (suffix, rest) = after.split_at(stop);
    if after.starts_with('%') {
        return Ok(Number { value: sign(negative, magnitude.into()), rest: after, scaled: false });
    }
    let suffix = suffix.trim_start();
    let factor = if radix == 16 { None } else { suffix_factor(suffix, context) };
    if factor.is_none() && !suffix.is_empty() && !suffix.eq_ignore_ascii_case("b") {
        context.doubt(format!("unknown suffix {suffix:?} after {magnitude} is ignored"));
    }
    let value = i128::from(magnitude) * factor.unwrap_or(1);
    if value > i128::from(i64::MAX) {
        return Err(ValueError::new("a number below 2^63", text));
    }
    Ok(Number { value: sign(negative, value), rest, scaled: factor.is_some() })
}

fn sign(negative: bool, value: i128) -> i128 {
    if negative { -value } else { value }
}

/// The factor of a size suffix; `None` when `suffix` does not begin with one.
fn suffix_factor(suffix: &str, context: &mut ParseContext) -> Option<i128> {
    let suffix = suffix.to_ascii_lowercase();
    let power = "kmgtp".find(suffix.chars().next()?)? as u32 + 1;
    let tail = &suffix[1..];
    let decimal = (context.kb_base == 1000) != tail.starts_with("ib");
    let base: i128 = if decimal { 1000 } else { 1024 };
    let factor = base.pow(power);
    if tail.starts_with("ib") && context.kb_base != 1000 {
        context.iec_as_si = true;
        context.doubt(format!(
            "{suffix} means {factor} here, as in fio: write {} for {}, or set kb_base=1000",
            &suffix[..1],
            1024_i128.pow(power)
        ));
    }
    if !matches!(tail, "" | "b" | "i" | "ib") {
        context.doubt(format!("{suffix:?} is interpreted as {:?}", &suffix[..1]));
    }
    Some(factor)
}

/// A whole number that is all of `text`, within the row's bounds.
fn whole(text: &str, context: &mut ParseContext) -> Result<i128, ValueError> {
    not_zones(text, context)?;
    let number = scan_number(text, context)?;
    if number.rest.starts_with('%') {
        return Err(ValueError::new("a number, not a percentage", text));
    }
    if !number.rest.is_empty() {
        context.doubt(format!("{:?} after the number is ignored", number.rest));
    }
    within(number.value, text, context)?;
    Ok(number.value)
}

/// Refuses `8z` where a value cannot be given in zones. fio looks for a small z only.
pub(crate) fn not_zones(text: &str, context: &ParseContext) -> Result<(), ValueError> {
    let digits = text.trim().strip_suffix('z').filter(|digits| !digits.is_empty());
    if digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) {
        let line = format!("{}: 'z' suffix isn't applicable", context.row.name);
        return Err(ValueError::new("a number that is not in zones", text).as_fio(line));
    }
    Ok(())
}

/// Refuses a value outside the row's bounds.
fn within(value: i128, text: &str, context: &ParseContext) -> Result<(), ValueError> {
    let row = context.row;
    if let Some(min) = row.min.filter(|min| value < i128::from(*min)) {
        let line = format!("{}: min value out of range: {value} ({min} min)", row.name);
        return Err(ValueError::new(format!("{min} or more"), text).as_fio(line));
    }
    if let Some(max) = row.max.filter(|max| value > i128::from(*max)) {
        let line = format!("{}: max value out of range: {value} ({max} max)", row.name);
        return Err(ValueError::new(format!("{max} or less"), text).as_fio(line));
    }
    Ok(())
}

macro_rules! whole_number {
    ($($ty:ty : $want:literal),*) => { $(
        impl OptionValue for $ty {
            const KIND: ValueKind = ValueKind::Int;
            fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
                whole(text, context)?.try_into().map_err(|_| ValueError::new($want, text))
            }
            fn show(&self) -> String {
                self.to_string()
            }
        }
    )* };
}

whole_number! {
    u16: "a number from 0 to 65535", u32: "a number from 0 to 4294967295",
    u64: "a number from 0 to 9223372036854775807", i32: "a 32-bit number",
    i64: "a 64-bit number"
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl OptionValue for Bytes {
    const KIND: ValueKind = ValueKind::Size;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let least = context.row.min.filter(|min| *min > 1);
        let want = || match least {
            Some(least) => {
                ValueError::new(format!("a size such as 4k or 1m, {least} or more"), text)
            }
            None => ValueError::new("a size such as 4k or 1m", text),
        };
        let value = whole(text, context).map_err(|e| ValueError { fio: e.fio, ..want() })?;
        value.try_into().map(Bytes).map_err(|_| want())
    }
    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// A number of bytes, a share of the file, or a number of zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Percent of the file or device, 0 to 100.
    Percent(u8),
    /// Zones of a zoned device.
    Zones(u64),
}

impl Amount {
    /// The bytes, when it is stated in bytes.
    pub const fn bytes(self) -> Option<u64> {
        match self {
            Amount::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl OptionValue for Amount {
    const KIND: ValueKind = ValueKind::Amount;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let want = || ValueError::new("a size such as 4k, or a percentage such as 10%", text);
        let trimmed = text.trim();
        if let Some(zones) = trimmed.strip_suffix(['z', 'Z']) {
            return match zones.parse() {
                Ok(zones) if context.row.zones => Ok(Amount::Zones(zones)),
                _ => Err(want()),
            };
        }
        let number = scan_number(trimmed, context).map_err(|_| want())?;
        if number.rest.starts_with('%') {
            if number.rest.len() > 1 {
                context.doubt(format!("{:?} after the number is ignored", &number.rest[1..]));
            }
            let above = format!("{} values greater than 100% aren't supported", context.row.name);
            let share = u8::try_from(number.value).ok().filter(|share| *share <= 100);
            return share
                .map(Amount::Percent)
                .ok_or_else(|| ValueError::new("a percentage from 0 to 100", text).as_fio(above));
        }
        Bytes::parse(trimmed, context).map(|bytes| Amount::Bytes(bytes.0))
    }
    fn show(&self) -> String {
        match self {
            Amount::Bytes(bytes) => bytes.to_string(),
            Amount::Percent(share) => format!("{share}%"),
            Amount::Zones(zones) => format!("{zones}z"),
        }
    }
}

/// The first of numbers that are separated by colons: the others are ignored, as in fio.
fn first_of_list<'a>(text: &'a str, context: &mut ParseContext) -> &'a str {
    match text.split_once(':') {
        Some((first, _)) => {
            context.doubt(crate::lists::too_long(1));
            first
        }
        None => text,
    }
}

/// A number with a fraction, within the row's bounds. Of a list the first is taken.
impl OptionValue for f64 {
    const KIND: ValueKind = ValueKind::Float;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let text = first_of_list(text, context);
        let value: f64 =
            text.trim().parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| {
                ValueError::new("a number such as 0.5", text)
                    .as_fio(format!("not a floating point value: {text}"))
            })?;
        let out = |bound: &str, limit: i64| {
            let line = format!("value out of range: {value:.6} (range {bound}: {limit}.000000)");
            ValueError::new(format!("a number with {limit} as the {bound}imum"), text).as_fio(line)
        };
        match (context.row.min, context.row.max) {
            (Some(min), _) if value < min as f64 => Err(out("min", min)),
            (_, Some(max)) if value > max as f64 => Err(out("max", max)),
            _ => Ok(value),
        }
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OptionDef;

    static ROW: OptionDef = OptionDef { name: "x", zones: true, ..OptionDef::BLANK };
    static SMALL: OptionDef =
        OptionDef { name: "x", min: Some(1), max: Some(100), ..OptionDef::BLANK };

    fn size(text: &str) -> Result<u64, ValueError> {
        Bytes::parse(text, &mut ParseContext::new(&ROW)).map(|bytes| bytes.0)
    }

    fn doubts(text: &str) -> usize {
        let mut context = ParseContext::new(&ROW);
        Bytes::parse(text, &mut context).expect("a size");
        context.doubts.len()
    }

    #[test]
    fn suffixes_mean_what_they_mean_in_fio() {
        for (text, bytes) in [
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4ki", 4096),
            ("4kib", 4000),
            ("4KiB", 4000),
            ("4b", 4),
            ("1m", 1 << 20),
            ("1mi", 1 << 20),
            ("1mib", 1_000_000),
            ("2g", 2 << 30),
            ("1t", 1 << 40),
            ("1p", 1 << 50),
            ("0x10", 16),
            ("010", 10),
            ("+4k", 4096),
            (" 4 k", 4096),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn a_base_of_1000_swaps_the_suffixes() {
        let mut context = ParseContext { kb_base: 1000, ..ParseContext::new(&ROW) };
        assert_eq!(Bytes::parse("4k", &mut context), Ok(Bytes(4000)));
        assert_eq!(Bytes::parse("4kib", &mut context), Ok(Bytes(4096)));
        assert!(context.doubts.is_empty());
    }

    #[test]
    fn what_fio_drops_is_dropped_and_reported() {
        for (text, bytes) in [("1.5m", 1), ("4q", 4), ("0x1k", 1), ("4kk", 4096), ("4k-8k", 4096)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
            assert_eq!(doubts(text), 1, "{text}");
        }
        assert_eq!(doubts("4kib"), 1);
        assert_eq!(doubts("4k"), 0);
        let mut context = ParseContext::new(&ROW);
        assert!(scan_number("4k", &mut context).is_ok() && !context.iec_as_si);
        assert!(scan_number("4KiB/100", &mut context).is_ok() && context.iec_as_si);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["", "k", "fast", "-4k", "4%", "9223372036854775808", "9999p", "99999p", "0x", "é"]
        {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_hold_and_are_reported_as_fio_does() {
        let parse = |text| u64::parse(text, &mut ParseContext::new(&SMALL));
        assert_eq!(parse("1"), Ok(1));
        assert_eq!(parse("100"), Ok(100));
        let low = parse("0").unwrap_err();
        assert_eq!(low.fio.as_deref(), Some("x: min value out of range: 0 (1 min)"));
        let high = parse("101").unwrap_err();
        assert_eq!(high.fio.as_deref(), Some("x: max value out of range: 101 (100 max)"));
    }

    #[test]
    fn an_amount_is_bytes_a_share_or_zones() {
        let parse = |text| Amount::parse(text, &mut ParseContext::new(&ROW));
        assert_eq!(parse("4k"), Ok(Amount::Bytes(4096)));
        assert_eq!(parse("10%"), Ok(Amount::Percent(10)));
        assert_eq!(parse("8z"), Ok(Amount::Zones(8)));
        for text in ["101%", "1.5z", "-1%", "%", "z", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(Amount::parse("8z", &mut ParseContext::new(&SMALL)).is_err());
    }

    #[test]
    fn zones_are_refused_where_they_mean_nothing() {
        static PLAIN: OptionDef = OptionDef { name: "zonerange", ..OptionDef::BLANK };
        let refused = Bytes::parse("3z", &mut ParseContext::new(&PLAIN)).unwrap_err();
        assert_eq!(refused.fio.as_deref(), Some("zonerange: 'z' suffix isn't applicable"));
    }

    #[test]
    fn of_a_list_of_numbers_the_first_is_taken() {
        static PLAIN: OptionDef = OptionDef { name: "x", ..OptionDef::BLANK };
        let mut context = ParseContext::new(&PLAIN);
        assert_eq!(f64::parse(".4:.6", &mut context), Ok(0.4));
        assert_eq!(context.doubts, ["the list exceeding max length 1"]);
    }
}
