//! Cells of comma-separated values (RFC 4180).

use std::borrow::Cow;

/// A text as a cell: in quotes where it has to be.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::csv_cell;

    #[test]
    fn cells_with_commas_quotes_and_line_ends_are_quoted() {
        assert_eq!(csv_cell("a b"), "a b");
        assert_eq!(csv_cell("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(csv_cell("a\nb"), "\"a\nb\"");
    }
}
