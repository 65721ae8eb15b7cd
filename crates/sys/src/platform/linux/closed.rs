//! Whether standard output was closed when the program was started. Rust opens /dev/null in its
//! place before `main`, and what is printed would be lost without a word.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before Rust's own start, where the C library calls what is listed here.
// SAFETY: the section holds pointers to functions that take what the C library passes or
// nothing, and that may run before `main`: this one makes one system call and sets an atomic.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    extern "C" fn note() {
        // SAFETY: it asks for a number of the descriptor and changes nothing.
        let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
        CLOSED.store(is_closed, Ordering::Relaxed);
    }
    note
};

/// Whether standard output was closed at the start.
pub(crate) fn standard_output_was_closed() -> bool {
    // Named here, so that the linker takes this object file with its section.
    std::hint::black_box(&raw const AT_START);
    CLOSED.load(Ordering::Relaxed)
}
