//! Lines on standard error, from any thread.

use iosonde_base::bare;
use iosonde_base::text::plain;
use std::fmt::Display;
use std::io::{self, Write};

/// Print a line. Where standard error takes none, as on a full disk, the line is
/// lost, and the run goes on: unlike `eprintln!`, this does not panic.
pub fn print_line(text: impl Display) {
    let line = format!("{text}\n");
    let _ = io::stderr().write_all(plain(&line).as_bytes());
}

/// Print an error, without the number that the system adds to its words.
pub fn print_error(text: &str) {
    print_line(format_args!("{}", bare(text)));
}
