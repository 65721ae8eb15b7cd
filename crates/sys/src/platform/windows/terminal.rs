//! Consoles.
#![allow(unsafe_code)]

use std::io::IsTerminal;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Console as console;

pub(crate) use std::os::windows::io::AsHandle as Stream;

/// Columns and rows of the console that a stream is; `None` if it is none.
pub(crate) fn window_size(stream: impl Stream) -> Option<(u16, u16)> {
    let mut about = console::CONSOLE_SCREEN_BUFFER_INFO::default();
    let handle = stream.as_handle().as_raw_handle();
    // SAFETY: the call fills the structure that it is lent; the handle is borrowed for it.
    if unsafe { console::GetConsoleScreenBufferInfo(handle, &raw mut about) } == 0 {
        return None;
    }
    let window = about.srWindow;
    let span = |from: i16, to: i16| u16::try_from(i32::from(to) - i32::from(from) + 1).ok();
    Some((span(window.Left, window.Right)?, span(window.Top, window.Bottom)?))
}

/// Whether the console of standard error takes escape sequences; it does once it is asked to.
pub(crate) fn takes_escapes() -> bool {
    takes_escapes_on(std::io::stderr().as_raw_handle())
}

/// Whether lines can be drawn over, and colours shown.
pub(crate) fn draws() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !is_dumb
        && (takes_escapes_on(std::io::stderr().as_raw_handle())
            || takes_escapes_on(std::io::stdout().as_raw_handle()))
}

fn takes_escapes_on(handle: HANDLE) -> bool {
    let mut mode = 0;
    // SAFETY: the handle is one of the process's own; the first call writes a number, the second takes one.
    unsafe {
        console::GetConsoleMode(handle, &raw mut mode) != 0
            && console::SetConsoleMode(handle, mode | console::ENABLE_VIRTUAL_TERMINAL_PROCESSING)
                != 0
    }
}

/// Whether characters outside of ASCII can be shown: a console takes them all, and what reads a pipe is taken to
/// expect those of the console's character set.
pub(crate) fn shows_unicode() -> bool {
    const UTF_8: u32 = 65001;
    // SAFETY: it takes nothing and returns a number.
    std::io::stdout().is_terminal() || unsafe { console::GetConsoleOutputCP() } == UTF_8
}

/// Whether there was no standard output when the program was started.
pub(crate) fn standard_output_was_closed() -> bool {
    // SAFETY: it takes a number and returns a handle, which stays the system's.
    let handle = unsafe { console::GetStdHandle(console::STD_OUTPUT_HANDLE) };
    handle.is_null() || handle == INVALID_HANDLE_VALUE
}
