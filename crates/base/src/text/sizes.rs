//! Sizes as a user types them: powers of 1024 with one letter.

/// A size in few letters: `4K`, `1M`, `1000`. [`size`] reads it back.
pub fn short_size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 && bytes.is_multiple_of(1 << 30) => format!("{}G", bytes >> 30),
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// `4096`, `4k`, `4KiB`, `1m`: powers of 1024.
///
/// # Errors
/// The text is no size.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("invalid size {text:?}: use a number with k, m, g or t");
    let body = text.trim();
    let end = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    let (digits, suffix) = body.split_at(end);
    let count: u64 = digits.parse().map_err(|_| wrong())?;
    let shift = match suffix.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return Err(wrong()),
    };
    count.checked_mul(1 << shift).filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_size_is_read_back() {
        for bytes in [0, 1, 512, 1000, 4096, 1 << 20, 3 << 30, (1 << 40) + 512] {
            assert_eq!(size(&short_size(bytes)), Ok(bytes));
        }
        assert_eq!(short_size(16 << 20), "16M");
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "k", "-1", "4x", "9999999999t", "1.5m"] {
            assert!(size(text).unwrap_err().contains("use a number with k, m, g or t"), "{text}");
        }
    }
}
