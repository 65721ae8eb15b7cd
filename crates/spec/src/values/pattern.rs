//! Bytes that repeat: `0xdeadbeef`, `"text"`, `42`, `'file'`, joined; `%o` is the offset.

use iosonde_options::{OptionValue, ParseContext, ValueError, ValueKind};

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PatternPart {
    /// These bytes.
    Bytes(Vec<u8>),
    /// What the file of this name holds; read when the buffers are made.
    File(String),
    /// The block's offset, 8 bytes, little-endian.
    Offset,
}

/// A pattern: its parts one after another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PatternText(pub Vec<PatternPart>);

impl PatternText {
    /// The most bytes, so that a pattern from a device or a pipe ends.
    pub const BYTES_MAX: usize = 64 << 20;

    /// The bytes, when no part depends on a file or an offset.
    pub fn plain(&self) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        for part in &self.0 {
            match part {
                PatternPart::Bytes(bytes) => all.extend(bytes),
                _ => return None,
            }
        }
        Some(all)
    }
}

impl OptionValue for PatternText {
    const KIND: ValueKind = ValueKind::Form;
    fn parse(text: &str, _: &mut ParseContext) -> Result<Self, ValueError> {
        let want = || ValueError::new("\"text\", 0xhex, a number or 'file', or several", text);
        let mut parts: Vec<PatternPart> = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (part, after) = part(rest).ok_or_else(want)?;
            match (parts.last_mut(), part) {
                (Some(PatternPart::Bytes(bytes)), PatternPart::Bytes(more)) => bytes.extend(more),
                (_, part) => parts.push(part),
            }
            rest = after;
        }
        let bytes = |part: &PatternPart| match part {
            PatternPart::Bytes(bytes) => bytes.len(),
            PatternPart::File(_) => 1,
            PatternPart::Offset => 8,
        };
        match parts.iter().map(bytes).sum::<usize>() {
            1..=PatternText::BYTES_MAX => Ok(PatternText(parts)),
            _ => Err(ValueError::new(format!("1 to {} bytes", PatternText::BYTES_MAX), text)),
        }
    }
    fn show(&self) -> String {
        let one = |part: &PatternPart| match part {
            PatternPart::Bytes(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("0x{hex}")
            }
            PatternPart::File(path) => format!("'{path}'"),
            PatternPart::Offset => "%o".into(),
        };
        self.0.iter().map(one).collect()
    }
}

/// The first part of `text`, and what follows it.
fn part(text: &str) -> Option<(PatternPart, &str)> {
    match text.as_bytes()[0] {
        b'"' => {
            let (inside, after) = text[1..].split_once('"')?;
            Some((PatternPart::Bytes(inside.as_bytes().to_vec()), after))
        }
        b'\'' => {
            let (inside, after) = text[1..].split_once('\'')?;
            (!inside.is_empty()).then(|| (PatternPart::File(inside.to_owned()), after))
        }
        b'%' => Some((PatternPart::Offset, text.strip_prefix("%o")?)),
        b'0' if text.starts_with("0x") || text.starts_with("0X") => hex(&text[2..]),
        _ => decimal(text),
    }
}

/// Hex digits, two a byte, first byte first; of an odd number the first stands alone.
fn hex(text: &str) -> Option<(PatternPart, &str)> {
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    let (digits, after) = text.split_at(end);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("hex digits are ASCII");
        u8::from_str_radix(pair, 16).expect("one or two hex digits")
    };
    let (lone, pairs) = digits.as_bytes().split_at(digits.len() % 2);
    let bytes: Vec<u8> = lone.chunks(1).chain(pairs.chunks(2)).map(byte).collect();
    (!bytes.is_empty()).then_some((PatternPart::Bytes(bytes), after))
}

/// A number of 32 bits: as few bytes as hold it, lowest first. A negative one takes four.
fn decimal(text: &str) -> Option<(PatternPart, &str)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let mut end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    // The 0 of a 0x belongs to the next part: -120xff is -12 and 0xff.
    if end > 1 && digits[end..].starts_with(['x', 'X']) && digits[..end].ends_with('0') {
        end -= 1;
    }
    let (number, after) = digits.split_at(end);
    // A letter glued to a number is a mistake, a part in quotes or the next number is not.
    if after.starts_with(|c: char| c.is_alphabetic()) {
        return None;
    }
    let magnitude: i64 = number.parse().ok()?;
    let value = if negative { -magnitude } else { magnitude };
    let bytes = if negative {
        i32::try_from(value).ok()?.to_le_bytes().to_vec()
    } else {
        let bytes = u32::try_from(value).ok()?.to_le_bytes();
        let used = 4 - bytes.iter().rev().take_while(|byte| **byte == 0).count();
        bytes[..used.max(1)].to_vec()
    };
    Some((PatternPart::Bytes(bytes), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<Vec<u8>> {
        let row = crate::lookup("buffer_pattern").expect("an option");
        PatternText::parse(text, &mut ParseContext::new(row)).ok()?.plain()
    }

    #[test]
    fn each_form_and_their_joins() {
        assert_eq!(bytes("0xdeadbeef").as_deref(), Some(&[0xde, 0xad, 0xbe, 0xef][..]));
        assert_eq!(bytes("\"abc\"").as_deref(), Some(&b"abc"[..]));
        assert_eq!(bytes("300").as_deref(), Some(&[0x2c, 0x01][..]));
        assert_eq!(bytes("0xabc").as_deref(), Some(&[0x0a, 0xbc][..]));
        assert_eq!(bytes("-120xff").as_deref(), Some(&[0xf4, 255, 255, 255, 0xff][..]));
        assert_eq!(bytes("0").as_deref(), Some(&[0][..]));
        assert_eq!(bytes("\"ab\"0xff").as_deref(), Some(&[b'a', b'b', 0xff][..]));
        assert_eq!(bytes("\"ab\"-1").as_deref(), Some(&[b'a', b'b', 255, 255, 255, 255][..]));
    }

    #[test]
    fn an_offset_is_a_part_of_its_own() {
        for name in ["buffer_pattern", "verify_pattern"] {
            let row = crate::lookup(name).expect("an option");
            let pattern = PatternText::parse("0xab%o\"c\"", &mut ParseContext::new(row)).unwrap();
            let bytes = |byte| PatternPart::Bytes(vec![byte]);
            assert_eq!(pattern.0, [bytes(0xab), PatternPart::Offset, bytes(b'c')]);
            assert_eq!(pattern.show(), "0xab%o0x63");
        }
    }

    #[test]
    fn long_patterns_are_kept_byte_for_byte() {
        let hex: String = (0..100_000).map(|n| format!("{:02x}", n % 251)).collect();
        let wanted: Vec<u8> = (0..100_000).map(|n| (n % 251) as u8).collect();
        assert_eq!(bytes(&format!("0x{hex}")), Some(wanted));
    }

    #[test]
    fn what_fio_refuses_is_refused() {
        for text in ["abc", "0x", "\"abc", "12k", "0xg", "%x", "\"ab\"-", "4294967296", "\"\""] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
