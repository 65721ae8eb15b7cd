//! Text on standard output, and whether any of it was lost.

use iosonde_base::text::harmless;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

static LOST: OnceLock<String> = OnceLock::new();

/// Print to standard output. A closed pipe, as before `head`, is no error; any
/// other is kept for [`lost`].
pub fn print(text: &str) {
    let _ = try_print(text);
}

/// As [`print()`]; whether somebody may have read it.
#[must_use]
pub fn try_print(text: &str) -> bool {
    if let Err(error) = is_open() {
        let _ = LOST.set(error.to_string());
        return false;
    }
    let mut out = io::stdout();
    let shown = harmless(text);
    let Err(error) = out.write_all(shown.as_bytes()).and_then(|()| out.flush()) else {
        return true;
    };
    if error.kind() != ErrorKind::BrokenPipe {
        // The first is the reason; whoever comes later only meets it again.
        let _ = LOST.set(error.to_string());
    }
    false
}

/// Whether there is a standard output at all.
///
/// # Errors
/// It was closed when the program was started (`>&-`).
pub fn is_open() -> io::Result<()> {
    if crate::platform::standard_output_was_closed() {
        return Err(io::Error::other("it is closed"));
    }
    Ok(())
}

/// Why text was lost, if any was: the program then ends with an error.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}
