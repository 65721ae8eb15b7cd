//! The calling thread as the system sees it: its name, its files, its timers.

use std::io;
use std::num::NonZeroU64;

use crate::platform;

/// Give the calling thread a table of file descriptors of its own: a copy of
/// what is open now. System calls on it then need not count a reference to
/// the file, which saves about 20 ns each.
///
/// What this thread opens from now on exists on this thread only, and the
/// other way round: the number means nothing, or another file, elsewhere. So
/// call it first thing on a thread that keeps its files to itself: do not send
/// a `File` opened here to another thread, nor use one that another thread
/// opens later. Files open now stay open, for as long as this thread lives,
/// even if others close them.
///
/// # Errors
/// If the system has no such thing; sharing goes on then.
pub fn unshare_files() -> io::Result<()> {
    platform::unshare_files()
}

/// Name the calling thread, for tools such as top(1); 15 bytes are kept.
///
/// # Errors
/// What the system says.
pub fn set_thread_name(name: &str) -> io::Result<()> {
    platform::set_thread_name(name)
}

/// Let the calling thread's timers be late by `ns` nanoseconds at most, beyond
/// what the machine needs. Linux begins with 50000.
///
/// # Errors
/// What the system says.
pub fn set_timer_slack(ns: NonZeroU64) -> io::Result<()> {
    platform::set_timer_slack(ns)
}

/// The calling thread's number in the system.
pub fn thread_id() -> u32 {
    platform::thread_id()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(file: &str) -> String {
        std::fs::read_to_string(format!("/proc/self/task/{}/{file}", thread_id())).unwrap()
    }

    fn on_a_thread(act: impl FnOnce() + Send + 'static) {
        std::thread::spawn(act).join().unwrap();
    }

    #[test]
    fn a_name_is_cut_to_what_the_system_keeps() {
        on_a_thread(|| {
            set_thread_name("a name longer than that").unwrap();
            assert_eq!(own("comm"), "a name longer t\n");
            set_thread_name("ab\0cd").unwrap();
            assert_eq!(own("comm"), "ab\n");
            set_thread_name("").unwrap();
        });
    }

    #[test]
    fn files_opened_after_the_split_are_not_seen_by_others() {
        let (to_tell, told) = std::sync::mpsc::channel();
        let (to_end, end) = std::sync::mpsc::channel::<()>();
        let opener = std::thread::spawn(move || {
            unshare_files().unwrap();
            // A pipe's number in /proc is nobody else's.
            let (read, _write) = std::io::pipe().unwrap();
            let number = std::os::fd::AsRawFd::as_raw_fd(&read);
            let file = std::fs::read_link(format!("/proc/thread-self/fd/{number}")).unwrap();
            to_tell.send((number, file)).unwrap();
            let _ = end.recv();
        });
        let (number, file) = told.recv().unwrap();
        let here = std::fs::read_link(format!("/proc/thread-self/fd/{number}"));
        assert!(here.is_err() || here.unwrap() != file);
        to_end.send(()).unwrap();
        opener.join().unwrap();
    }

    #[test]
    fn the_slack_is_what_was_asked() {
        on_a_thread(|| {
            set_timer_slack(NonZeroU64::MIN).unwrap();
            assert_eq!(rustix::thread::current_timer_slack().unwrap(), 1);
        });
    }
}
