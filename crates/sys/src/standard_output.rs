//! Text on standard output, and whether any of it was lost.

use iosonde_base::text::harmless;
use std::io::{self, ErrorKind, Write};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

static LOST: OnceLock<String> = OnceLock::new();

/// What was printed, where it is kept for a file instead.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

fn kept() -> MutexGuard<'static, Option<String>> {
    // A text is whole whoever panicked.
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keep what is printed from now on.
pub fn keep() {
    kept().get_or_insert_default();
}

/// Whether what is printed is kept.
pub fn is_kept() -> bool {
    kept().is_some()
}

/// What was kept; from now on text is printed again.
pub fn take_kept() -> Option<String> {
    kept().take()
}

/// Print to standard output. A closed pipe, as before `head`, is no error; any
/// other is kept for [`lost`].
pub fn print(text: &str) {
    let _ = try_print(text);
}

/// As [`print()`]; whether somebody may have read it.
#[must_use]
pub fn try_print(text: &str) -> bool {
    if let Some(kept) = kept().as_mut() {
        kept.push_str(&harmless(text));
        return true;
    }
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
