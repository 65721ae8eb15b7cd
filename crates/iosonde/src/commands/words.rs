//! Figures, lines and documents as all commands write them.

use iosonde_base::bare;
use iosonde_direct::Fact;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Columns that a line of text has.
const COLUMNS: usize = 80;

/// A size in three figures: `64.0 MiB`, `512 B`, `0`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes == 0 {
        return "0".to_owned();
    }
    let mut unit = 0;
    let mut value = bytes as f64;
    // 1023.6 would be written 1024.
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    let decimals = match value {
        _ if unit == 0 => 0,
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// An exact size, as short as it is exact: `4 KiB`, `1000 B`.
pub fn exact(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.iter().find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size));
    unit.map_or_else(|| format!("{bytes} B"), |(size, name)| format!("{} {name}", bytes / size))
}

/// A share in whole percent; all and nothing are said of all and nothing only.
pub fn percent(part: u64, whole: u64) -> u64 {
    match part {
        0 => 0,
        part if part >= whole => 100,
        part => ((part as f64 / whole as f64 * 100.0).round() as u64).clamp(1, 99),
    }
}

/// `s` unless there is one.
pub fn plural(count: impl Into<u64>) -> &'static str {
    if count.into() == 1 { "" } else { "s" }
}

/// A value, or `{"unknown": reason}`.
pub fn fact<T: Clone + Into<Value>>(fact: &Fact<T>) -> Value {
    match fact {
        Fact::Known(value) => value.clone().into(),
        Fact::Unknown(why) => json!({ "unknown": why }),
    }
}

/// A path or another's text as it may be shown: nothing that moves the cursor.
pub fn shown(text: impl AsRef<Path>) -> String {
    let text = text.as_ref().to_string_lossy();
    text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect()
}

/// Write `text` after `lead`, and on further lines below where it began.
pub fn wrapped(out: &mut String, lead: &str, text: &str) {
    let indent = lead.chars().count();
    let mut line = lead.to_owned();
    let mut column = indent;
    for word in shown(bare(text)).split_whitespace() {
        let width = word.chars().count();
        if column > indent && column + 1 + width > COLUMNS {
            let _ = writeln!(out, "{line}");
            line = " ".repeat(indent);
            column = indent;
        }
        if column > indent {
            line.push(' ');
            column += 1;
        }
        line.push_str(word);
        column += width;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_figures() {
        assert_eq!(bytes(0), "0");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(4096), "4.00 KiB");
        assert_eq!(bytes((1 << 20) - 1), "1.00 MiB");
        assert_eq!(bytes(64 << 20), "64.0 MiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(exact(4096), "4 KiB");
        assert_eq!(exact(1000), "1000 B");
    }

    #[test]
    fn almost_all_is_not_all_and_almost_nothing_not_nothing() {
        assert_eq!(percent(0, 0), 0);
        assert_eq!(percent(1, 1_000_000), 1);
        assert_eq!(percent(999_999, 1_000_000), 99);
        assert_eq!(percent(5, 5), 100);
    }

    #[test]
    fn no_line_is_longer_than_a_terminal_is_wide() {
        let mut out = String::new();
        wrapped(&mut out, "  lead  ", &"word ".repeat(60));
        assert!(out.lines().count() > 3);
        assert!(out.lines().all(|line| line.len() <= COLUMNS && line.starts_with("  ")), "{out}");
        assert!(out.lines().skip(1).all(|line| line.starts_with("        word")), "{out}");
    }
}
