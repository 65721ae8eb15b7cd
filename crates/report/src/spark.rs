//! Values as characters of one line, the higher the larger.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Where the terminal's character set is not UTF-8.
const ASCII: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// The characters, from the lowest to the highest.
pub(crate) fn levels(unicode: bool) -> [char; 8] {
    if unicode { BLOCKS } else { ASCII }
}

/// A character for each value, from 0 to the largest; a blank for none.
pub(crate) fn spark(values: &[Option<f64>], unicode: bool) -> String {
    let levels = levels(unicode);
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let cell = |value: &Option<f64>| match value {
        None => ' ',
        Some(value) if most > 0.0 => levels[((value / most * 8.0) as usize).min(7)],
        Some(_) => levels[0],
    };
    values.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_at_zero_and_has_gaps_where_nothing_was_sampled() {
        let values = [Some(0.0), Some(50.0), None, Some(100.0), Some(99.0)];
        assert_eq!(spark(&values, true), "▁▅ ██");
        assert_eq!(spark(&values, false), "_= ##");
        assert_eq!(spark(&[Some(0.0)], true), "▁");
    }
}
