//! `(4k*10)`: arithmetic in a value, worked out before the value is read.
//!
//! Operators are `+ - * / % ^`, unary minus and parentheses; `^` binds tightest and to the
//! right, then unary minus, then `* / %`, then `+ -`. Numbers are decimal, with a fraction, or
//! hexadecimal, and carry the suffixes of the option's kind. Within parentheses a time without a
//! suffix is in microseconds, as fio's manual says.

use std::borrow::Cow;
use std::fmt;

use crate::values::KbBase;
use iosonde_options::time_unit_us;

/// The meaning of suffixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffixes {
    /// None: a plain number.
    Plain,
    /// `k m g t p`, with `i` and `b` after them, as fio reads them.
    Size {
        /// The option `kb_base`: 1024, where `k` is 1024 and `kib` 1000, or 1000, where it is
        /// the other way round.
        kb_base: KbBase,
    },
    /// `us ms s m h d`; results are in microseconds.
    Time,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticError {
    /// Where in the text, in bytes from 0.
    pub at: usize,
    /// What is wrong there.
    pub why: &'static str,
}

impl fmt::Display for ArithmeticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.why, self.at + 1)
    }
}

impl std::error::Error for ArithmeticError {}

/// `text` with each outermost parenthesised expression replaced by its value.
///
/// `(4k*2),8k` becomes `8192,8k`. A time becomes `N` with `us` after it. A result that is not a
/// whole number is cut toward zero. Text without parentheses comes back as it is.
///
/// # Errors
/// An expression that is malformed, divides by zero, or leaves the range of 64 bits.
pub fn rewrite(text: &str, suffixes: Suffixes) -> Result<Cow<'_, str>, ArithmeticError> {
    let Some(mut open) = text.find('(') else {
        return Ok(Cow::Borrowed(text));
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = 0;
    loop {
        out.push_str(&text[rest..open]);
        let mut reader = ExpressionReader { text, at: open, suffixes, nested: 0 };
        let value = reader.parenthesised()?;
        out.push_str(&value.whole(open)?.to_string());
        if suffixes == Suffixes::Time {
            out.push_str("us");
        }
        rest = reader.at;
        match text[rest..].find('(') {
            Some(next) => open = rest + next,
            None => break,
        }
    }
    out.push_str(&text[rest..]);
    Ok(Cow::Owned(out))
}

/// All of `text` as one expression, parenthesised or not.
///
/// # Errors
/// As [`rewrite`].
pub fn evaluate(text: &str, suffixes: Suffixes) -> Result<i64, ArithmeticError> {
    // As within parentheses, so that what is read without them is read with them.
    let mut reader = ExpressionReader { text, at: 0, suffixes, nested: 1 };
    let value = reader.sum()?;
    reader.blanks();
    if reader.at < text.len() {
        return reader.fail("expected an operator");
    }
    value.whole(0)
}

/// Deeper than any expression a person writes, shallower than any stack.
const NESTED_MAX: u32 = 64;

/// A value on the way: exact while it can be, which is as long as nothing has a fraction.
#[derive(Clone, Copy, Debug)]
enum Quantity {
    Whole(i128),
    Real(f64),
}

impl Quantity {
    fn real(self) -> f64 {
        match self {
            // Rounding is all that can happen: i128's range lies within f64's.
            Quantity::Whole(n) => n as f64,
            Quantity::Real(x) => x,
        }
    }

    fn whole(self, at: usize) -> Result<i64, ArithmeticError> {
        let fail = Err(ArithmeticError { at, why: "result exceeds 64 bits" });
        match self {
            Quantity::Whole(n) => i64::try_from(n).or(fail),
            // 2^63 as f64 is exact; anything below it fits after the cut.
            Quantity::Real(x) if x.abs() < 9_223_372_036_854_775_808.0 => Ok(x.trunc() as i64),
            Quantity::Real(_) => fail,
        }
    }
}

struct ExpressionReader<'a> {
    text: &'a str,
    at: usize,
    suffixes: Suffixes,
    nested: u32,
}

impl<'a> ExpressionReader<'a> {
    fn sum(&mut self) -> Result<Quantity, ArithmeticError> {
        let mut left = self.product()?;
        while let Some(operator) = self.take(b"+-") {
            let at = self.at - 1;
            let right = self.product()?;
            left = apply(operator, left, right, at)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Quantity, ArithmeticError> {
        let mut left = self.negation()?;
        while let Some(operator) = self.take(b"*/%") {
            let at = self.at - 1;
            let right = self.negation()?;
            left = apply(operator, left, right, at)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Quantity, ArithmeticError> {
        match self.take(b"-") {
            None => self.power(),
            Some(_) => {
                let at = self.at - 1;
                self.deeper(|reader| {
                    let value = reader.negation()?;
                    apply(b'-', Quantity::Whole(0), value, at)
                })
            }
        }
    }

    fn power(&mut self) -> Result<Quantity, ArithmeticError> {
        let base = self.atom()?;
        match self.take(b"^") {
            None => Ok(base),
            Some(_) => {
                let at = self.at - 1;
                self.deeper(|reader| {
                    let exponent = reader.negation()?;
                    apply(b'^', base, exponent, at)
                })
            }
        }
    }

    fn atom(&mut self) -> Result<Quantity, ArithmeticError> {
        self.blanks();
        match self.text.as_bytes().get(self.at) {
            Some(b'(') => self.parenthesised(),
            Some(byte) if byte.is_ascii_digit() || *byte == b'.' => self.number(),
            _ => self.fail("expected a number"),
        }
    }

    fn parenthesised(&mut self) -> Result<Quantity, ArithmeticError> {
        let open = self.at;
        self.at += 1;
        let value = self.deeper(ExpressionReader::sum)?;
        match self.take(b")") {
            Some(_) => Ok(value),
            None if self.at == self.text.len() => {
                Err(ArithmeticError { at: open, why: "unclosed parenthesis" })
            }
            None => self.fail("expected an operator or a closing parenthesis"),
        }
    }

    fn number(&mut self) -> Result<Quantity, ArithmeticError> {
        let from = self.at;
        let text = &self.text[from..];
        let value = if text.starts_with("0x") || text.starts_with("0X") {
            let digits = self.run(from + 2, |byte| byte.is_ascii_hexdigit());
            i128::from_str_radix(digits, 16).ok().map(Quantity::Whole)
        } else {
            let digits = self.run(from, |byte| byte.is_ascii_digit() || byte == b'.');
            match digits.parse::<i128>() {
                Ok(n) => Some(Quantity::Whole(n)),
                Err(_) if digits.contains('.') => digits.parse().ok().map(Quantity::Real),
                Err(_) => None,
            }
        };
        let Some(value) = value else {
            return Err(ArithmeticError { at: from, why: "invalid number" });
        };
        let suffix_at = self.at;
        let suffix = self.run(suffix_at, |byte| byte.is_ascii_alphabetic());
        match scale(self.suffixes, &suffix.to_ascii_lowercase()) {
            Some(1) => Ok(value),
            Some(factor) => apply(b'*', value, Quantity::Whole(factor), suffix_at),
            None => Err(ArithmeticError { at: suffix_at, why: "unknown suffix" }),
        }
    }

    /// The bytes from `from` that satisfy `part`; moves past them.
    fn run(&mut self, from: usize, part: impl Fn(u8) -> bool) -> &'a str {
        let text = self.text;
        let bytes = &text.as_bytes()[from..];
        let length = bytes.iter().position(|&byte| !part(byte)).unwrap_or(bytes.len());
        self.at = from + length;
        &text[from..self.at]
    }

    fn take(&mut self, any: &[u8]) -> Option<u8> {
        self.blanks();
        let byte = *self.text.as_bytes().get(self.at)?;
        any.contains(&byte).then(|| {
            self.at += 1;
            byte
        })
    }

    fn blanks(&mut self) {
        self.run(self.at, |byte| byte == b' ' || byte == b'\t');
    }

    fn deeper<T>(
        &mut self,
        what: impl FnOnce(&mut Self) -> Result<T, ArithmeticError>,
    ) -> Result<T, ArithmeticError> {
        if self.nested == NESTED_MAX {
            return self.fail("expression nested too deeply");
        }
        self.nested += 1;
        let value = what(self);
        self.nested -= 1;
        value
    }

    fn fail<T>(&self, why: &'static str) -> Result<T, ArithmeticError> {
        Err(ArithmeticError { at: self.at, why })
    }
}

fn apply(operator: u8, a: Quantity, b: Quantity, at: usize) -> Result<Quantity, ArithmeticError> {
    let beyond = ArithmeticError { at, why: "number too large" };
    let zero = ArithmeticError { at, why: "division by zero" };
    if matches!(operator, b'/' | b'%') && b.real() == 0.0 {
        return Err(zero);
    }
    if let (Quantity::Whole(a), Quantity::Whole(b)) = (a, b) {
        let exact = match operator {
            b'+' => a.checked_add(b),
            b'-' => a.checked_sub(b),
            b'*' => a.checked_mul(b),
            // A quotient with a fraction goes on as a real, so that (1/2*4) is 2.
            b'/' if a.checked_rem(b) == Some(0) => a.checked_div(b),
            b'/' => return finite(a as f64 / b as f64, beyond),
            b'%' => a.checked_rem(b),
            _ => match u32::try_from(b) {
                Ok(b) => a.checked_pow(b),
                Err(_) => return finite((a as f64).powf(b as f64), beyond),
            },
        };
        return exact.map(Quantity::Whole).ok_or(beyond);
    }
    let (a, b) = (a.real(), b.real());
    finite(
        match operator {
            b'+' => a + b,
            b'-' => a - b,
            b'*' => a * b,
            b'/' => a / b,
            b'%' => a % b,
            _ => a.powf(b),
        },
        beyond,
    )
}

fn finite(x: f64, beyond: ArithmeticError) -> Result<Quantity, ArithmeticError> {
    if x.is_finite() { Ok(Quantity::Real(x)) } else { Err(beyond) }
}

fn scale(suffixes: Suffixes, suffix: &str) -> Option<i128> {
    match suffixes {
        _ if suffix.is_empty() => Some(1),
        Suffixes::Plain => None,
        Suffixes::Size { kb_base } => size_scale(suffix, kb_base),
        Suffixes::Time => time_scale_us(suffix),
    }
}

/// The factor of a size's suffix; `suffix` in lower case.
fn size_scale(suffix: &str, kb_base: KbBase) -> Option<i128> {
    if suffix == "b" {
        return Some(1);
    }
    let power = "kmgtp".find(&suffix[..1])? as u32 + 1;
    // fio's rule: "kib" is the other base, "ki" is not.
    let other = match &suffix[1..] {
        "" | "b" | "i" => false,
        "ib" => true,
        _ => return None,
    };
    let base: i128 = if (kb_base == KbBase::Binary) != other { 1024 } else { 1000 };
    Some(base.pow(power))
}

/// Microseconds in one of a time's suffix; `suffix` in lower case.
fn time_scale_us(suffix: &str) -> Option<i128> {
    // Here fio knows "sec" too.
    let suffix = if suffix == "sec" { "s" } else { suffix };
    time_unit_us(suffix).map(i128::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Suffixes = Suffixes::Size { kb_base: KbBase::Binary };

    fn size(text: &str) -> i64 {
        evaluate(text, SIZE).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn why(text: &str) -> &'static str {
        evaluate(text, SIZE).expect_err(text).why
    }

    #[test]
    fn operators_bind_as_in_school() {
        assert_eq!(size("1+2*3"), 7);
        assert_eq!(size("(1+2)*3"), 9);
        assert_eq!(size("10-4-3"), 3);
        assert_eq!(size("2^3^2"), 512);
        assert_eq!(size("-2^2"), -4);
        assert_eq!(size("2^-1*4"), 2);
        assert_eq!(size("7%4*2"), 6);
        assert_eq!(size("- -3"), 3);
    }

    #[test]
    fn a_division_keeps_its_fraction_until_the_end() {
        assert_eq!(size("1/2*4"), 2);
        assert_eq!(size("7/2"), 3);
        assert_eq!(size("-7/2"), -3);
        assert_eq!(size("1.5*2"), 3);
    }

    #[test]
    fn sizes_carry_fios_suffixes() {
        assert_eq!(size("((2+1)*4k)"), 12288);
        assert_eq!(size("1K+1kb+1ki+1kib"), 3 * 1024 + 1000);
        let si = Suffixes::Size { kb_base: KbBase::Decimal };
        assert_eq!(evaluate("1k+1kb+1ki+1kib", si), Ok(3 * 1000 + 1024));
        assert_eq!(size("0x10*1b"), 16);
        assert_eq!(size("1.5m"), 1_572_864);
    }

    #[test]
    fn times_are_in_microseconds_unless_they_say_otherwise() {
        assert_eq!(evaluate("1m+5s", Suffixes::Time), Ok(65_000_000));
        assert_eq!(evaluate("5", Suffixes::Time), Ok(5));
        assert_eq!(rewrite("(2*30s)", Suffixes::Time).unwrap(), "60000000us");
    }

    #[test]
    fn each_outermost_expression_is_replaced_where_it_stands() {
        assert_eq!(rewrite("(4k*10)", SIZE).unwrap(), "40960");
        assert_eq!(rewrite("(1k),8k,((2)*(3))", SIZE).unwrap(), "1024,8k,6");
        assert!(matches!(rewrite("4k", SIZE), Ok(Cow::Borrowed("4k"))));
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_place() {
        assert_eq!(
            rewrite("4k,(1+", SIZE).unwrap_err().to_string(),
            "expected a number at character 7"
        );
        assert_eq!(why(""), "expected a number");
        assert_eq!(why("(1"), "unclosed parenthesis");
        assert_eq!(why("1 2"), "expected an operator");
        assert_eq!(why("1q"), "unknown suffix");
        assert_eq!(why("1.2.3"), "invalid number");
        assert_eq!(why("0x"), "invalid number");
        assert_eq!(why("1/0"), "division by zero");
        assert_eq!(why("1%0"), "division by zero");
        assert_eq!(why("2^63"), "result exceeds 64 bits");
        assert_eq!(why("9^9^9"), "number too large");
        assert_eq!(why(&"(".repeat(100_000)), "expression nested too deeply");
        for depth in 0..2 * NESTED_MAX as usize {
            let text = format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
            let within = rewrite(&format!("({text})"), Suffixes::Plain).is_ok();
            assert_eq!(evaluate(&text, Suffixes::Plain).is_ok(), within, "{depth} deep");
        }
        assert_eq!(why(&"-".repeat(100_000)), "expression nested too deeply");
        assert_eq!(why(&"1^".repeat(100_000)), "expression nested too deeply");
    }

    #[test]
    fn the_ends_of_the_range_are_reached() {
        assert_eq!(size("2^62*2-1"), i64::MAX);
        assert_eq!(size("-(2^63)"), i64::MIN);
    }

    #[test]
    fn a_plain_number_takes_no_suffix() {
        assert_eq!(evaluate("3*4", Suffixes::Plain), Ok(12));
        assert_eq!(evaluate("3k", Suffixes::Plain).unwrap_err().why, "unknown suffix");
    }
}
