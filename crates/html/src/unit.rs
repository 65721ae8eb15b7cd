//! The units of numbers in charts, and how they are written.

use crate::charts::frame::in_steps;
use crate::charts::scale::{byte_ticks, ticks};
use iosonde_base::text::{bytes, count, duration, rate, short_duration};

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureUnit {
    /// A number, or so many a second.
    Count,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
}

impl FigureUnit {
    /// A value in words.
    pub fn text(self, value: f64) -> String {
        match self {
            FigureUnit::Count => count(value),
            FigureUnit::Bytes => bytes(value.round() as u64),
            FigureUnit::BytesPerSecond => rate(value),
            FigureUnit::Nanoseconds => duration(value.round() as u64),
        }
    }

    /// A round value of an axis whose equal steps are equal ratios, in words.
    pub(crate) fn round(self, value: f64) -> String {
        let whole = value.round() as u64;
        match self {
            // As sizes are written: a round rate has no decimals.
            FigureUnit::BytesPerSecond => format!("{}/s", bytes(whole)),
            FigureUnit::Bytes => bytes(whole),
            FigureUnit::Nanoseconds => short_duration(whole),
            FigureUnit::Count => {
                let text = count(value);
                let digits = text.trim_end_matches(|one: char| one.is_ascii_alphabetic());
                if !digits.contains('.') {
                    return text;
                }
                let short = digits.trim_end_matches('0').trim_end_matches('.');
                format!("{short}{}", &text[digits.len()..])
            }
        }
    }

    /// A value of an axis that begins at zero: all of its values have one unit, that of the
    /// step.
    pub(crate) fn on_axis(self, value: f64, step: f64) -> String {
        if value == 0.0 {
            return "0".to_owned();
        }
        const BINARY: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let (base, names): (f64, &[&str]) = match self {
            FigureUnit::Count => (1000.0, &["", "k", "M", "G", "T"]),
            FigureUnit::Nanoseconds => (1000.0, &["ns", "us", "ms", "s"]),
            FigureUnit::Bytes | FigureUnit::BytesPerSecond => (1024.0, &BINARY),
        };
        let is_round = |power: &usize| {
            let steps = step / base.powi(*power as i32);
            // Half a GiB is 0.5 GiB, which is round, and 512 MiB.
            let tenths = steps * 10.0;
            steps >= 1.0
                || self.is_binary() && steps >= 0.1 && (tenths - tenths.round()).abs() < 1e-6
        };
        let power = (0..names.len()).rev().find(is_round).unwrap_or(0);
        let unit = base.powi(power as i32);
        let number = in_steps(value / unit, step / unit);
        match self {
            FigureUnit::Count => format!("{number}{}", names[power]),
            FigureUnit::BytesPerSecond => format!("{number} {}/s", names[power]),
            _ => format!("{number} {}", names[power]),
        }
    }

    /// Round values from 0 to `most`.
    pub(crate) fn ticks(self, most: f64) -> Vec<f64> {
        match self {
            FigureUnit::Bytes | FigureUnit::BytesPerSecond => byte_ticks(most),
            FigureUnit::Count | FigureUnit::Nanoseconds => ticks(most),
        }
    }

    /// The round values up to `most`, each with its words.
    pub(crate) fn labels(self, most: f64) -> Vec<(f64, String)> {
        let all = self.ticks(most);
        let step = all.get(1).copied().unwrap_or(1.0);
        let within = all.into_iter().filter(|&tick| tick <= most);
        within.map(|tick| (tick, self.on_axis(tick, step))).collect()
    }

    /// Whether powers of two are its round values.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, FigureUnit::Bytes | FigureUnit::BytesPerSecond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_an_axis_have_one_unit() {
        let axis = |unit: FigureUnit, most: f64| -> Vec<String> {
            unit.labels(most).into_iter().map(|label| label.1).collect()
        };
        let mib = f64::from(1 << 20);
        let rates = axis(FigureUnit::BytesPerSecond, 1500.0 * mib);
        assert_eq!(rates, ["0", "0.5 GiB/s", "1.0 GiB/s"]);
        let rates = axis(FigureUnit::BytesPerSecond, 1000.0 * mib);
        assert_eq!(rates, ["0", "200 MiB/s", "400 MiB/s", "600 MiB/s", "800 MiB/s", "1000 MiB/s"]);
        assert_eq!(axis(FigureUnit::Count, 1500.0), ["0", "500", "1000", "1500"]);
        assert_eq!(axis(FigureUnit::Count, 9e5), ["0", "200k", "400k", "600k", "800k"]);
        assert_eq!(axis(FigureUnit::Nanoseconds, 1e9).last().unwrap(), "1000 ms");
    }

    #[test]
    fn round_values_have_no_zeroes_after_the_point() {
        let round = FigureUnit::round;
        assert_eq!(
            [1.0, 0.5, 200.0, 1e3, 2.5e6].map(|v| round(FigureUnit::Count, v)),
            ["1", "0.5", "200", "1k", "2.5M"]
        );
        assert_eq!(round(FigureUnit::Nanoseconds, 1e7), "10 ms");
        assert_eq!(round(FigureUnit::BytesPerSecond, 2147483648.0), "2 GiB/s");
    }
}
