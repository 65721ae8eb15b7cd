//! Signals, by signal-hook.

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{SigId, flag, low_level};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

/// It asks for a report of what is known so far.
pub(crate) const ACCOUNT: Option<i32> = Some(SIGUSR1);

/// The process goes on after a stop.
pub(crate) const CONTINUE: Option<i32> = Some(SIGCONT);

pub(crate) fn signals_that_end() -> Vec<i32> {
    let ignored = crate::process::ignored_signals();
    let is_heard = |&signal: &i32| ignored >> (signal - 1) & 1 == 0;
    let mut ends = vec![SIGINT, SIGTERM];
    ends.extend([SIGHUP, SIGQUIT].iter().filter(|signal| is_heard(signal)));
    ends
}

pub(crate) fn signal_name(signal: i32) -> Option<&'static str> {
    low_level::signal_name(signal)
}

pub(crate) fn flag_on(signals: &[i32], flag: &Arc<AtomicBool>) -> io::Result<()> {
    signals.iter().try_for_each(|signal| flag::register(*signal, flag.clone()).map(drop))
}

pub(crate) fn end_on_second(signals: &[i32], flag: &Arc<AtomicBool>, code: i32) -> io::Result<()> {
    let mut all = signals.iter();
    all.try_for_each(|signal| {
        flag::register_conditional_shutdown(*signal, code, flag.clone()).map(drop)
    })
}

pub(crate) fn let_large_writes_fail() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without the handler it is as before.
        let _ = flag::register(SIGXFSZ, Arc::default());
    });
}

/// Signals as they come.
pub(crate) struct SignalStream(Signals);

/// Listen to these signals; what ends it.
pub(crate) fn hear(
    signals: &[i32],
) -> io::Result<(SignalStream, impl FnOnce() + Send + Sync + use<>)> {
    let signals = Signals::new(signals)?;
    let handle = signals.handle();
    Ok((SignalStream(signals), move || handle.close()))
}

impl SignalStream {
    /// The next one; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<i32> {
        self.0.forever().next()
    }
}

/// Listens until it is dropped.
pub(crate) struct Listened(SigId);

pub(crate) fn flag_until_dropped(signal: i32, flag: &Arc<AtomicBool>) -> io::Result<Listened> {
    flag::register(signal, flag.clone()).map(Listened)
}

impl Drop for Listened {
    fn drop(&mut self) {
        low_level::unregister(self.0);
    }
}
