//! Events of the console, as the signals that they stand for: Ctrl-C is SIGINT, Ctrl-Break SIGQUIT, the end of the
//! console or the session SIGTERM.
#![allow(unsafe_code)]

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use windows_sys::Win32::System::Console as console;

use super::done;
use crate::signals::{INTERRUPT, QUIT, TERMINATE};

/// No event asks for a report.
pub(crate) const ACCOUNT: Option<i32> = None;

/// No event says that the process goes on.
pub(crate) const CONTINUE: Option<i32> = None;

/// Nobody listens, as there is nothing to hear.
pub(crate) enum Listened {}

pub(crate) fn flag_until_dropped(_: i32, _: &Arc<AtomicBool>) -> io::Result<Listened> {
    Err(io::ErrorKind::Unsupported.into())
}

/// There is no limit of file sizes.
pub(crate) fn let_large_writes_fail() {}

/// There is nothing to hold: events come on a thread of their own.
pub(crate) type Held = ();

pub(crate) fn hold_signals(_: &[i32]) -> Option<Held> {
    None
}

pub(crate) fn let_signals_through(_: &[i32]) {}

pub(crate) fn set_held_signals(_: &Held) {}

/// Who waits for events.
enum Listener {
    Flag(Arc<AtomicBool>),
    /// The process ends with this code once the flag is set.
    End(Arc<AtomicBool>, i32),
    /// By its number.
    Stream(u64, Sender<i32>),
}

static LISTENERS: Mutex<Vec<(Vec<i32>, Listener)>> = Mutex::new(Vec::new());

fn listen(signals: &[i32], listener: Listener) -> io::Result<()> {
    static HANDLER: Once = Once::new();
    let mut failed = None;
    HANDLER.call_once(|| {
        // SAFETY: the function is there as long as the process, and takes what the system passes.
        failed = done(unsafe { console::SetConsoleCtrlHandler(Some(handle), 1) }).err();
    });
    listeners().push((signals.to_vec(), listener));
    failed.map_or(Ok(()), Err)
}

fn listeners() -> std::sync::MutexGuard<'static, Vec<(Vec<i32>, Listener)>> {
    // The list is whole between any two statements.
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called by the system on a thread that it makes for this.
unsafe extern "system" fn handle(event: u32) -> i32 {
    let signal = match event {
        console::CTRL_C_EVENT => INTERRUPT,
        console::CTRL_BREAK_EVENT => QUIT,
        _ => TERMINATE,
    };
    let is_heard = tell(signal);
    if is_heard && signal == TERMINATE {
        // The process ends when this returns, or after some seconds: time for a report.
        std::thread::sleep(Duration::from_secs(10));
    }
    is_heard.into()
}

/// Whether anybody listened.
fn tell(signal: i32) -> bool {
    let mut is_heard = false;
    for (signals, listener) in listeners().iter().filter(|(signals, _)| signals.contains(&signal)) {
        debug_assert!(signals.contains(&signal));
        is_heard = true;
        match listener {
            Listener::Flag(flag) => flag.store(true, Ordering::Release),
            Listener::End(flag, code) if flag.load(Ordering::Acquire) => std::process::exit(*code),
            Listener::End(..) => {}
            Listener::Stream(_, stream) => {
                // Who is gone needs nothing.
                let _ = stream.send(signal);
            }
        }
    }
    is_heard
}

/// Set a flag at each of these signals.
pub(crate) fn flag_on(signals: &[i32], flag: &Arc<AtomicBool>) -> io::Result<()> {
    listen(signals, Listener::Flag(flag.clone()))
}

/// End the process at each of these signals if the flag is set by then.
pub(crate) fn end_on_second(signals: &[i32], flag: &Arc<AtomicBool>, code: i32) -> io::Result<()> {
    listen(signals, Listener::End(flag.clone(), code))
}

/// Signals as they come.
pub(crate) struct SignalStream {
    number: u64,
    signals: Receiver<i32>,
}

/// What ends a stream.
const END: i32 = 0;

/// Listen to these signals.
pub(crate) fn hear(
    signals: &[i32],
) -> io::Result<(SignalStream, impl FnOnce() + Send + Sync + use<>)> {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (sender, receiver) = channel();
    let ended = sender.clone();
    listen(signals, Listener::Stream(number, sender))?;
    let end = move || {
        let _ = ended.send(END);
    };
    Ok((SignalStream { number, signals: receiver }, end))
}

impl SignalStream {
    /// The next one; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<i32> {
        self.signals.recv().ok().filter(|signal| *signal != END)
    }
}

impl Drop for SignalStream {
    fn drop(&mut self) {
        let is_other = |listener: &Listener| !matches!(listener, Listener::Stream(number, _) if *number == self.number);
        listeners().retain(|(_, listener)| is_other(listener));
    }
}

/// As if the console had sent it.
pub(crate) fn send_signal(signal: i32) -> io::Result<()> {
    if tell(signal) { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
}

/// Those that end a run.
pub(crate) fn signals_that_end() -> Vec<i32> {
    vec![INTERRUPT, TERMINATE, QUIT]
}

pub(crate) fn signal_name(signal: i32) -> Option<&'static str> {
    match signal {
        INTERRUPT => Some("Ctrl-C"),
        QUIT => Some("Ctrl-Break"),
        TERMINATE => Some("the end of the console"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_streams_hear_what_they_listen_to_and_nothing_else() {
        let flag = Arc::<AtomicBool>::default();
        flag_on(&[40], &flag).unwrap();
        let (mut stream, end) = hear(&[40, 41]).unwrap();
        assert!(send_signal(42).is_err());
        send_signal(41).unwrap();
        assert!(!flag.load(Ordering::Relaxed));
        send_signal(40).unwrap();
        assert!(flag.load(Ordering::Relaxed));
        end();
        assert_eq!([stream.next(), stream.next(), stream.next()], [Some(41), Some(40), None]);
    }
}
