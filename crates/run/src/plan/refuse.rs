//! A refusal of one option.

use iosonde_options::{Diagnostic, Setting};

/// An error about the value of `name`, with the place where it was set.
pub(super) fn about<T>(setting: &Setting<T>, name: &str, words: String) -> Diagnostic {
    Diagnostic::error(words).about(name, setting.origin())
}
