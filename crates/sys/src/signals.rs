//! Signals: those that end a run, and who hears of them. On Windows, events of the console.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::platform;
use crate::process::{hold_signals, let_signals_through, with_signals_held};

/// The terminal is gone.
pub const HANGUP: i32 = 1;
/// Ctrl-C.
pub const INTERRUPT: i32 = 2;
/// Ctrl-\; on Windows Ctrl-Break.
pub const QUIT: i32 = 3;
/// The request to end.
pub const TERMINATE: i32 = 15;

/// The signal that asks for a report of what is known so far; `None` where there is none.
pub const ACCOUNT: Option<i32> = platform::ACCOUNT;

/// The signals that end a run with a report, and with what was to be removed
/// removed. One that this process was told to ignore stays ignored: nohup(1) does
/// that with SIGHUP.
pub fn ends() -> Vec<i32> {
    platform::signals_that_end()
}

/// Its name: `SIGINT`.
pub fn name(signal: i32) -> String {
    platform::signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// Set a flag at each of these signals, for as long as the process lives.
///
/// # Errors
/// The system does not let us listen.
pub fn flag_on(signals: &[i32], flag: &Arc<AtomicBool>) -> io::Result<()> {
    // Between the handler and its action there is a moment in which a signal does nothing.
    with_signals_held(signals, || platform::flag_on(signals, flag))
}

/// The same, and end the process with `code` at the second.
///
/// # Errors
/// The system does not let us listen.
pub fn flag_then_end_on(signals: &[i32], flag: &Arc<AtomicBool>, code: i32) -> io::Result<()> {
    with_signals_held(signals, || {
        platform::end_on_second(signals, flag, code)?;
        platform::flag_on(signals, flag)
    })
}

/// Signals reach no longer the calling thread, nor those that it starts, but for listeners:
/// MPI libraries give up a connection whose making a signal interrupts, and launchers send
/// SIGCONT and SIGTERM to end a run.
pub fn only_for_listeners() {
    let all =
        [HANGUP, INTERRUPT, QUIT, TERMINATE].into_iter().chain(ACCOUNT).chain(platform::CONTINUE);
    hold_signals(&all.collect::<Vec<_>>());
}

/// A write past the limit of file sizes (`ulimit -f`) is to fail with EFBIG, which
/// is the job's error; the signal's default would end everything without a report.
/// Programs that jobs start have the default again: a handler is not inherited.
pub fn let_large_writes_fail() {
    platform::let_large_writes_fail();
}

/// Hears signals on a thread of its own.
pub struct Listener {
    signals: Vec<i32>,
    stream: platform::SignalStream,
}

/// Ends a [`Listener`] from another thread.
pub struct ListenerEnd(Box<dyn FnOnce() + Send + Sync>);

impl Listener {
    /// Listen to these signals.
    ///
    /// # Errors
    /// The system does not let us listen.
    pub fn new(signals: &[i32]) -> io::Result<(Listener, ListenerEnd)> {
        // As for `flag_on`.
        let (stream, end) = with_signals_held(signals, || platform::hear(signals))?;
        Ok((Listener { signals: signals.to_vec(), stream }, ListenerEnd(Box::new(end))))
    }

    /// The next signal; `None` once it was ended.
    pub fn next_signal(&mut self) -> Option<i32> {
        // The thread that listens may hold them.
        let_signals_through(&self.signals);
        self.stream.next()
    }
}

impl ListenerEnd {
    /// End it.
    pub fn end(self) {
        (self.0)();
    }
}

/// Sets a flag whenever the process goes on after a stop (SIGCONT), until it is dropped.
pub struct Continued {
    _listener: Option<platform::Listened>,
}

impl Continued {
    /// Where the system has no such signal, or no listener can be had, the flag is never set.
    pub fn into_flag(flag: &Arc<AtomicBool>) -> Continued {
        let listener =
            platform::CONTINUE.and_then(|signal| platform::flag_until_dropped(signal, flag).ok());
        Continued { _listener: listener }
    }
}
