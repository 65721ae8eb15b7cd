//! The calling thread as the system sees it: its name, its files, its timers.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::files::OwnedHandle;
use crate::platform;
use iosonde_direct::sysfs::text;

/// Give the calling thread its own table of file descriptors: a copy of
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

/// What a program's main thread may take for its stack at least: what Linux gives it.
const STACK_LEAST: u64 = 8 << 20;

/// Run a program: where the limit of the main thread's stack is low (`ulimit -s`), on a
/// thread with one that is large enough, as the end of the stack ends the process.
pub fn with_stack<T: Send + 'static>(program: fn() -> T) -> T {
    let limit = platform::stack_limit();
    if limit.is_none_or(|limit| limit >= STACK_LEAST) {
        return program();
    }
    let thread = std::thread::Builder::new().stack_size(STACK_LEAST as usize);
    // Without a thread the small stack has to do.
    thread.spawn(program).map_or_else(
        |_| program(),
        |thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        },
    )
}

/// The signals that the process ignores, a bit each, the first for signal 1; none
/// where the system does not tell.
pub fn ignored_signals() -> u64 {
    let status = text("proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// close(2), with its error. The descriptor is gone in any case, on Linux also after EINTR,
/// which is no error here.
///
/// # Errors
/// What a write met and the file system reports only now (NFS, FUSE, quotas).
pub fn close(fd: OwnedHandle) -> io::Result<()> {
    platform::close(fd)
}

/// Do something while these signals wait for the calling thread: one that comes meanwhile
/// is delivered afterwards. For the moment in which handlers are put in place, when a
/// signal that comes too early would be lost.
pub fn with_signals_held<T>(signals: &[i32], act: impl FnOnce() -> T) -> T {
    let before = platform::hold_signals(signals);
    let acted = act();
    if let Some(before) = before {
        platform::set_held_signals(&before);
    }
    acted
}

/// Let these signals wait for the calling thread, and for those that it starts, from now on:
/// they are delivered to others. For threads in libraries that do not bear interruptions.
pub fn hold_signals(signals: &[i32]) {
    let _ = platform::hold_signals(signals);
}

/// Let these signals through to the calling thread, whatever the one that started it held.
pub fn let_signals_through(signals: &[i32]) {
    platform::let_signals_through(signals);
}

/// Name the calling thread, for tools such as top(1); 15 bytes are kept.
///
/// # Errors
/// The error of the system.
pub fn set_thread_name(name: &str) -> io::Result<()> {
    platform::set_thread_name(name)
}

/// Let the calling thread's timers be late by `ns` nanoseconds at most, beyond
/// what the machine needs. Linux begins with 50000.
///
/// # Errors
/// The error of the system.
pub fn set_timer_slack(ns: NonZeroU64) -> io::Result<()> {
    platform::set_timer_slack(ns)
}

/// Send a signal to this process itself, as Ctrl-C does.
///
/// # Errors
/// The system has no such signal.
pub fn send_signal(signal: i32) -> io::Result<()> {
    platform::send_signal(signal)
}

/// Let the calling thread, and no other of the process, act for this group:
/// real, effective and saved (setresgid(2), which the system keeps for each
/// thread). Files are opened, and programs started, as that group.
///
/// # Errors
/// If the thread may not.
pub fn become_group(gid: u32) -> io::Result<()> {
    platform::become_group(gid)
}

/// Let the calling thread, and no other of the process, act for this user:
/// real, effective and saved (setresuid(2)). It cannot go back; a thread of
/// root loses its rights, so change the group before.
///
/// # Errors
/// If the thread may not.
pub fn become_user(uid: u32) -> io::Result<()> {
    platform::become_user(uid)
}

/// A command line for the system's shell: `sh -c`, on Windows `cmd /C`.
pub fn shell(line: &str) -> Command {
    platform::shell(line)
}

/// Give a program the name by which it is called, where the system lets it have one.
pub fn call_it(program: &mut Command, name: &str) {
    platform::call_it(program, name);
}

/// Send Ctrl-C's signal to a program that was started here.
///
/// # Errors
/// It has ended, or the system cannot.
pub fn interrupt(program: &Child) -> io::Result<()> {
    platform::interrupt(program)
}

/// Whether a program that was started here has a thread of this name; `None` where the system does not tell.
pub fn has_thread(program: &Child, name: &str) -> Option<bool> {
    platform::has_thread(program.id(), name)
}

/// The number of the user for whom this process acts; `None` where users have none.
pub fn user() -> Option<u32> {
    platform::user()
}

/// End as by SIGTERM when the process that started this one is gone, where the system can do that.
pub fn end_with_parent() {
    platform::end_with_parent();
}

/// By which this program can be started again.
///
/// # Errors
/// The system does not tell.
pub fn own_path() -> io::Result<PathBuf> {
    platform::own_path()
}

/// The file of this program.
///
/// # Errors
/// It cannot be opened.
pub fn own_program() -> io::Result<File> {
    platform::own_program()
}

/// How many files the process may have open now, and at most; `None` where that is not limited.
pub fn open_files_limit() -> Option<(u64, Option<u64>)> {
    platform::open_files_limit()
}

/// Let the process have as many files open as it may.
///
/// # Errors
/// The error of the system.
pub fn raise_open_files_limit() -> io::Result<()> {
    platform::raise_open_files_limit()
}

/// Standard error, for the output of a program.
///
/// # Errors
/// It is closed.
pub fn standard_error_for_program() -> io::Result<Stdio> {
    platform::standard_error_for_program()
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
        let (to_report, reported) = std::sync::mpsc::channel();
        let (to_end, end) = std::sync::mpsc::channel::<()>();
        let opener = std::thread::spawn(move || {
            unshare_files().unwrap();
            // A pipe's number in /proc is nobody else's.
            let (read, _write) = std::io::pipe().unwrap();
            let number = std::os::fd::AsRawFd::as_raw_fd(&read);
            let file = std::fs::read_link(format!("/proc/thread-self/fd/{number}")).unwrap();
            to_report.send((number, file)).unwrap();
            let _ = end.recv();
        });
        let (number, file) = reported.recv().unwrap();
        let here = std::fs::read_link(format!("/proc/thread-self/fd/{number}"));
        assert!(here.is_err() || here.unwrap() != file);
        to_end.send(()).unwrap();
        opener.join().unwrap();
    }

    #[test]
    fn one_thread_is_somebody_else_and_the_others_are_not() {
        if !rustix::process::geteuid().is_root() {
            iosonde_testing::skip!("only root can become somebody else");
        }
        let ids = || {
            let status = own("status");
            let line = |name| status.lines().find(|l| l.starts_with(name)).unwrap().to_owned();
            (line("Uid:"), line("Gid:"))
        };
        let before = ids();
        on_a_thread(move || {
            become_group(65533).unwrap();
            become_user(65534).unwrap();
            let (uid, gid) = ids();
            assert_eq!(uid, "Uid:\t65534\t65534\t65534\t65534");
            assert_eq!(gid, "Gid:\t65533\t65533\t65533\t65533");
            assert!(become_user(0).is_err(), "there is no way back");
            assert!(become_group(u32::MAX).is_err());
        });
        assert_eq!(ids(), before);
    }

    #[test]
    fn the_slack_is_what_was_asked() {
        on_a_thread(|| {
            set_timer_slack(NonZeroU64::MIN).unwrap();
            assert_eq!(rustix::thread::current_timer_slack().unwrap(), 1);
        });
    }

    #[test]
    fn threads_hold_what_their_starter_holds_until_they_let_it_through() {
        const USR2: i32 = 12;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                hold_signals(&[USR2]);
                std::thread::scope(|inner| {
                    inner.spawn(|| {
                        assert!(is_held(USR2));
                        let_signals_through(&[USR2]);
                        assert!(!is_held(USR2));
                    });
                });
                assert!(is_held(USR2));
            });
        });
    }

    fn is_held(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal - 1) & 1 == 1
    }

    #[test]
    fn signals_wait_while_they_are_held_and_not_afterwards() {
        const USR2: i32 = 12;
        let is_held = || is_held(USR2);
        assert!(!is_held());
        assert!(with_signals_held(&[USR2], is_held));
        assert!(!is_held());
    }
}
