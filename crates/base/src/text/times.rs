//! Times as people type them after the flags of our own commands: `500ms`, `90`, `30m`.

use std::time::Duration;

/// Read a time: a number with ms, s, m, h or d; seconds without a unit. It is more than
/// nothing.
///
/// # Errors
/// A sentence that names the text and the units.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("invalid time {text:?}: use a number with ms, s, m, h or d: 30m");
    let body = text.trim();
    let digits = body.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let seconds = match &body[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.trim_end().parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds)
        .ok()
        .filter(|span| !span.is_zero())
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, ms) in [
            ("500ms", 500),
            ("2s", 2000),
            ("0.5", 500),
            ("90", 90_000),
            ("1.5m", 90_000),
            ("1min", 60_000),
            ("1h", 3_600_000),
            ("2 d", 172_800_000),
        ] {
            assert_eq!(time(text), Ok(Duration::from_millis(ms)), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for wrong in ["", "0", "-1s", "1w", "nan", "inf", "1e300h", "s", "1msx", "1 2s"] {
            let reason = time(wrong).unwrap_err();
            assert!(reason.contains("ms, s, m, h or d"), "{wrong}: {reason}");
        }
    }
}
