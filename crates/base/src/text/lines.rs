//! Text in lines of a given width.

/// Words that stay on the line of the number before them.
const UNITS: [&str; 24] = [
    "B",
    "KiB",
    "MiB",
    "GiB",
    "TiB",
    "PiB",
    "EiB",
    "B/s",
    "KiB/s",
    "MiB/s",
    "GiB/s",
    "TiB/s",
    "PiB/s",
    "EiB/s",
    "%",
    "ns",
    "us",
    "ms",
    "s",
    "IOPS",
    "I/Os",
    "jobs",
    "bytes",
    "processors",
];

/// `text` broken between words into lines of at most `columns`, with `indent`
/// spaces before all but the first, which begins in column `indent`. Neither a
/// word nor a number and its unit is broken; one that is longer than a line has
/// its own line. No line ends in a space, the last not in a newline.
pub fn wrap(text: &str, indent: usize, columns: usize) -> String {
    let mut lines = String::new();
    let mut column = indent;
    let mut words = text.split_whitespace().peekable();
    while let Some(first) = words.next() {
        let mut piece = first.to_owned();
        let mut last = first;
        while let Some(unit) = words.next_if(|next| stay_together(last, next)) {
            piece.push(' ');
            piece.push_str(unit);
            last = unit;
        }
        let length = piece.chars().count();
        if column > indent && column + 1 + length > columns {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if column > indent {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(&piece);
        column += length;
    }
    lines
}

/// `text` in which no line can end between a number and its unit.
pub fn unbroken(text: &str) -> String {
    let mut words = text.split(' ').peekable();
    let mut joined = String::with_capacity(text.len());
    while let Some(word) = words.next() {
        joined.push_str(word);
        match words.peek() {
            Some(next) if stay_together(word, next) => joined.push('\u{a0}'),
            Some(_) => joined.push(' '),
            None => {}
        }
    }
    joined
}

/// A number and its unit.
fn stay_together(left: &str, right: &str) -> bool {
    let number = left.trim_start_matches(['(', '<', '-', '[']);
    let is_number = number.starts_with(|one: char| one.is_ascii_digit())
        && number.ends_with(|one: char| one.is_ascii_alphanumeric());
    is_number && UNITS.contains(&right.trim_end_matches([',', '.', ';', ':', ')', ']']))
}

/// `text` in exactly `columns` columns, on the left; cut with a `~` when too
/// long.
pub fn fit(text: &str, columns: usize) -> String {
    let length = text.chars().count();
    if length <= columns {
        return format!("{text}{}", " ".repeat(columns - length));
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}~")
}

/// Words as a command line for a shell.
pub fn shell_command<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let quoted = |word: W| {
        let word = word.as_ref();
        let plain = |one: char| one.is_ascii_alphanumeric() || "-_=./:,+%@".contains(one);
        if !word.is_empty() && word.chars().all(plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_words_are_cut_and_long_texts_wrapped() {
        assert_eq!(fit("sequential", 6), "seque~");
        assert_eq!(fit("é", 3), "é  ");
        assert_eq!(wrap("aa bb cc", 2, 7), "aa bb\n  cc");
        assert_eq!(wrap("", 2, 7), "");
    }

    #[test]
    fn a_number_stays_beside_its_unit() {
        assert_eq!(wrap("it moved (1.28 GiB/s), and", 0, 14), "it moved\n(1.28 GiB/s),\nand");
        assert_eq!(wrap("about 12 %.", 0, 8), "about\n12 %.");
        assert_eq!(wrap("bound: 1.37M IOPS", 0, 12), "bound:\n1.37M IOPS");
        assert_eq!(wrap("some MiB here", 0, 6), "some\nMiB\nhere");
        assert_eq!(
            unbroken("for 44.0 % of 3 runs (2.00 s)"),
            "for 44.0\u{a0}% of 3 runs (2.00\u{a0}s)"
        );
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_too_long(
            words in prop::collection::vec("[a-z]{1,12}|[0-9]{1,4} (KiB|ms|%)", 0..30),
            indent in 0..12usize,
            columns in 12..90usize,
        ) {
            let text = words.join(" ");
            let lines = wrap(&text, indent, columns);
            let again: Vec<&str> = lines.split_whitespace().collect();
            prop_assert_eq!(again.join(" "), text);
            for (at, line) in lines.lines().enumerate() {
                let begins = if at == 0 { indent } else { 0 };
                let blanks = line.len() - line.trim_start().len();
                prop_assert!(at == 0 || blanks == indent);
                let one_word = words.iter().any(|word| word == line.trim_start());
                prop_assert!(one_word || begins + line.chars().count() <= columns, "{}", line);
            }
        }
    }
}
