//! Terminals.

pub(crate) use std::os::fd::AsFd as Stream;

/// Columns and rows of the terminal that a stream is; `None` if it is none.
pub(crate) fn window_size(stream: impl Stream) -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some((size.ws_col, size.ws_row))
}

/// Whether the terminal is known to take escape sequences.
pub(crate) fn takes_escapes() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term != "dumb")
}

/// Whether it is not known to take none.
pub(crate) fn draws() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether the character set of the locale is UTF-8.
pub(crate) fn shows_unicode() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    // The first that is set decides (POSIX, locale).
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
