//! SBK's lines, read back as a script would.
#![allow(dead_code)] // Each test program uses its part.

use super::{Ran, Who, words};
use iosonde_testing::Folder;

/// Run `iosonde sbk` with these options.
pub fn sbk(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("sbk {line}")))
}

/// The number right before `what` in a line: `  542 records,`.
#[track_caller]
pub fn number(line: &str, what: &str) -> f64 {
    let what = format!(" {what}");
    let numbers = line.match_indices(&what).filter_map(|(end, _)| {
        let before = &line[..end];
        before[before.rfind([' ', ':', ',']).map_or(0, |at| at + 1)..].parse().ok()
    });
    numbers.last().unwrap_or_else(|| panic!("no number of{what} in {line}"))
}

/// The lines of windows, and the total.
#[track_caller]
pub fn lines(ran: &Ran) -> (Vec<String>, String) {
    let reported = ran.stdout.lines().filter(|line| line.contains(" records/sec,"));
    let (mut windows, mut total) = (Vec::new(), Vec::new());
    for line in reported.map(str::to_owned) {
        let is_total = line.contains("Total");
        if is_total { &mut total } else { &mut windows }.push(line);
    }
    assert_eq!(total.len(), 1, "one total: {ran:?}");
    (windows, total.remove(0))
}

/// Panics unless a line is the golden one, letter by letter; `#` stands for a
/// digit or for a blank of a number's width.
#[track_caller]
pub fn fits(line: &str, golden: &str) {
    assert_eq!(line.len(), golden.len(), "{line}\n{golden}");
    for (at, (reported, golden)) in line.chars().zip(golden.chars()).enumerate() {
        let fits = match golden {
            '#' => reported == ' ' || reported.is_ascii_digit(),
            _ => reported == golden,
        };
        assert!(fits, "letter {at}: {reported:?} for {golden:?}\n{line}");
    }
}
