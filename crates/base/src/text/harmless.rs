//! Text that a terminal only shows. Names of jobs and files come from others, and a
//! terminal takes some characters for commands: to retitle itself, to hide what follows,
//! to show text in another order than it has.

use std::borrow::Cow;

/// Stands for each character that is left out.
const INSTEAD: char = '\u{fffd}';

/// How reports begin and end a colour (`report`, `style.rs`). No other sequence is let
/// through: there are some that hide text.
const COLOURS: [&str; 8] = [
    "\x1b[0m",
    "\x1b[1m",
    "\x1b[1;36m",
    "\x1b[2m",
    "\x1b[32m",
    "\x1b[33m",
    "\x1b[1;31m",
    "\x1b[36m",
];

/// `text` without what a terminal takes for a command, but for line ends (those of CSV, too,
/// `\r\n`), tabs and the colours of our own reports.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_command) {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        let colour = COLOURS.iter().find(|colour| from.starts_with(**colour));
        rest = match colour {
            Some(colour) => {
                shown.push_str(colour);
                &from[colour.len()..]
            }
            None if from.starts_with("\r\n") => {
                shown.push('\r');
                &from[1..]
            }
            None => {
                shown.push(INSTEAD);
                let mut letters = from.chars();
                letters.next();
                letters.as_str()
            }
        };
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// `text` without any of it: messages and plans have no colours.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.contains(is_command) {
        text.chars().map(|one| if is_command(one) { INSTEAD } else { one }).collect()
    } else {
        Cow::Borrowed(text)
    }
}

/// A control character, or one that changes the direction of what follows.
fn is_command(letter: char) -> bool {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || letter.is_control() && letter != '\n' && letter != '\t'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_terminal_are_left_out_and_colours_of_reports_stay() {
        let title = "job \x1b]0;owned\x07, \u{9b}2J\r\u{202e}x\x7f";
        let shown = "job \u{fffd}]0;owned\u{fffd}, \u{fffd}2J\u{fffd}\u{fffd}x\u{fffd}";
        assert_eq!((&*harmless(title), &*plain(title)), (shown, shown));
        let coloured = "\x1b[1mread\x1b[0m\t5\n";
        assert_eq!(harmless(coloured), coloured);
        assert_eq!(plain(coloured), "\u{fffd}[1mread\u{fffd}[0m\t5\n");
        assert_eq!(harmless("\x1b[8mhidden"), "\u{fffd}[8mhidden");
        assert_eq!(harmless("\x1b"), "\u{fffd}");
        assert_eq!(harmless("a,b\r\n1,2\r\n\r"), "a,b\r\n1,2\r\n\u{fffd}");
        assert!(matches!(harmless("größe µs\n"), Cow::Borrowed("größe µs\n")));
    }
}
