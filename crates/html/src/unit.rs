//! The units of numbers in charts, and how they are written.

use crate::charts::scale::{byte_ticks, ticks};
use iosonde_base::text::{bytes, count, duration, rate};

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

    /// Round values from 0 to `most`.
    pub(crate) fn ticks(self, most: f64) -> Vec<f64> {
        match self {
            FigureUnit::Bytes | FigureUnit::BytesPerSecond => byte_ticks(most),
            FigureUnit::Count | FigureUnit::Nanoseconds => ticks(most),
        }
    }

    /// The round values up to `most`, each with its words.
    pub(crate) fn labels(self, most: f64) -> Vec<(f64, String)> {
        let within = self.ticks(most).into_iter().filter(|&tick| tick <= most);
        within.map(|tick| (tick, self.text(tick))).collect()
    }

    /// Whether powers of two are its round values.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, FigureUnit::Bytes | FigureUnit::BytesPerSecond)
    }
}
