//! Numbers and marks of our own report: three figures, a blank, a unit.

use super::Style;

/// A latency: `523 ns`, `12.1 us`, `1.24 ms`, `2.05 s`.
pub fn time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..999_500 => (ns as f64 / 1e3, "us"),
        999_500..999_500_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    format!("{} {unit}", three_figures(value))
}

/// A bandwidth in bytes per second: `160 MiB/s`.
pub(crate) fn bandwidth(bytes_per_s: u64) -> String {
    format!("{}/s", bytes(bytes_per_s))
}

/// A number of bytes: `10.5 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let (value, unit) = scaled(bytes as f64, 1024.0, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
    format!("{value} {unit}")
}

/// A count or a rate without unit: `82.5`, `1373k`, `2.97M`.
pub fn count(value: f64) -> String {
    let (value, unit) = scaled(value, 1000.0, ["", "k", "M", "G", "T", "P"]);
    format!("{value}{unit}")
}

fn scaled(mut value: f64, step: f64, units: [&'static str; 6]) -> (String, &'static str) {
    let mut unit = 0;
    // 999.5 would be told with four figures.
    while value >= step.min(999.5) && unit < units.len() - 1 {
        value /= step;
        unit += 1;
    }
    let whole = unit == 0 && value.fract() == 0.0;
    (if whole { format!("{value:.0}") } else { three_figures(value) }, units[unit])
}

fn three_figures(value: f64) -> String {
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// What a piece of text is, and so its colour where there is colour.
#[derive(Clone, Copy)]
pub(crate) enum Mark {
    /// A name or a heading.
    Heading,
    /// A number to look at first.
    First,
    /// A label.
    Label,
    /// Something that is as it should be.
    Good,
    /// Something to mind.
    Note,
    /// Something that went wrong.
    Error,
}

/// `text`, coloured if the style says so. Pad before, not after.
pub(crate) fn paint(text: impl AsRef<str>, mark: Mark, style: &Style) -> String {
    let text = text.as_ref();
    if !style.colour {
        return text.into();
    }
    let code = match mark {
        Mark::Heading => "1",
        Mark::First => "1;36",
        Mark::Label => "2",
        Mark::Good => "32",
        Mark::Note => "33",
        Mark::Error => "1;31",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// `text` in exactly `columns` columns, on the left; cut with a `~` when too
/// long.
pub(super) fn fit(text: &str, columns: usize) -> String {
    let length = text.chars().count();
    if length <= columns {
        return format!("{text}{}", " ".repeat(columns - length));
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}~")
}

/// `text` broken between words so that lines, with `indent` blanks before all
/// but the first, stay within `columns`.
pub(crate) fn wrap(text: &str, indent: usize, columns: usize) -> String {
    let mut lines = String::new();
    let mut column = indent;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > columns {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if column > indent {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_figures() {
        assert_eq!(
            [523, 12_100, 999_499, 999_500].map(time),
            ["523 ns", "12.1 us", "999 us", "1.00 ms"]
        );
        assert_eq!([1_240_000, 2_050_000_000].map(time), ["1.24 ms", "2.05 s"]);
        assert_eq!(time(u64::MAX), "18446744074 s");
        assert_eq!(bandwidth(168_000_000), "160 MiB/s");
        assert_eq!(bytes(1023), "1.00 KiB");
        assert_eq!(
            [0.0, 82.5, 999.4, 1000.0, 1_373_522.0].map(count),
            ["0", "82.5", "999", "1.00k", "1.37M"]
        );
    }

    #[test]
    fn long_words_are_cut_and_long_notes_wrapped() {
        assert_eq!(fit("sequential", 6), "seque~");
        assert_eq!(fit("é", 3), "é  ");
        assert_eq!(wrap("aa bb cc", 2, 7), "aa bb\n  cc");
        assert_eq!(wrap("", 2, 7), "");
    }
}
