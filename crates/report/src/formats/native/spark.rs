//! A series as one line of characters.

use crate::formats::style::{Mark, Style, paint};
use crate::series::{RunSeries, SeriesWindow};
use iosonde_base::text::{duration, rate};

/// Characters of a line at most.
const CELLS_MOST: usize = 40;
/// A series of fewer windows shows nothing.
const WINDOWS_LEAST: usize = 4;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Where the terminal's character set is not UTF-8.
const ASCII: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// A character for each value, from 0 to the largest; a blank for none.
pub(super) fn line(values: &[Option<f64>], style: &Style) -> String {
    let levels = if style.unicode { BLOCKS } else { ASCII };
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let cell = |value: &Option<f64>| match value {
        None => ' ',
        Some(value) if most > 0.0 => levels[((value / most * 8.0) as usize).min(7)],
        Some(_) => levels[0],
    };
    values.iter().map(cell).collect()
}

/// The rate and the 99th percentile over time.
pub(super) fn add(series: &RunSeries, style: &Style, text: &mut String) {
    let room = style.columns.saturating_sub(36).clamp(10, CELLS_MOST);
    let few = series.in_at_most(room);
    if few.windows.len() < WINDOWS_LEAST {
        return;
    }
    let seconds = few.interval_ns as f64 / 1e9;
    let rates = |window: &SeriesWindow| Some(window.bytes()? as f64 / seconds);
    let rates: Vec<Option<f64>> = few.windows.iter().map(rates).collect();
    let p99 = |window: &SeriesWindow| {
        Some(window.sampled.then(|| window.latency())?.percentile(99.0)? as f64)
    };
    let p99: Vec<Option<f64>> = few.windows.iter().map(p99).collect();
    let window = duration(few.interval_ns);
    add_line("rate", &rates, |most| format!("0 to {}, {window} each", rate(most)), style, text);
    add_line("p99", &p99, |most| format!("0 to {}", duration(most as u64)), style, text);
}

fn add_line(
    label: &str,
    values: &[Option<f64>],
    scale: impl Fn(f64) -> String,
    style: &Style,
    text: &mut String,
) {
    let Some(most) = values.iter().flatten().copied().reduce(f64::max).filter(|&most| most > 0.0)
    else {
        return;
    };
    text.push_str(&paint(format!("  {label:<10}"), Mark::Label, style));
    text.push_str(&paint(line(values, style), Mark::First, style));
    text.push_str(&format!("  {}\n", scale(most)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_at_zero_and_has_gaps_where_nothing_was_sampled() {
        let style = Style { unicode: true, ..Style::default() };
        let values = [Some(0.0), Some(50.0), None, Some(100.0), Some(99.0)];
        assert_eq!(line(&values, &style), "▁▅ ██");
        assert_eq!(line(&values, &Style::default()), "_= ##");
        assert_eq!(line(&[Some(0.0)], &style), "▁");
    }
}
