//! Signals, turned into requests for the conductor.

use iosonde_sys::process::{hold_signals, let_signals_through, with_signals_held};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::thread::JoinHandle;

/// A request of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalRequest {
    /// End the run ([`ends`]): the signal's number.
    Stop(i32),
    /// Report what is known so far (SIGUSR1).
    Account,
}

/// The signals that end a run with a report, and with what was to be removed
/// removed. One that this process was told to ignore stays ignored: nohup(1) does
/// that with SIGHUP.
pub fn ends() -> Vec<i32> {
    let ignored = iosonde_sys::process::ignored_signals();
    let is_heard = |&signal: &i32| ignored >> (signal - 1) & 1 == 0;
    let mut ends = vec![SIGINT, SIGTERM];
    ends.extend([SIGHUP, SIGQUIT].iter().filter(|signal| is_heard(signal)));
    ends
}

/// A flag that such a signal sets: for programs that run several jobs one after the
/// other, and must hear of it between two.
///
/// # Errors
/// The system does not let us listen.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop: Arc<AtomicBool> = Arc::default();
    let ends = ends();
    // Between the handler and its action there is a moment in which a signal does nothing.
    with_signals_held(&ends, || {
        ends.iter()
            .try_for_each(|signal| signal_hook::flag::register(*signal, stop.clone()).map(drop))
    })?;
    Ok(stop)
}

/// Signals reach no longer the calling thread, nor those that it starts, but for listeners:
/// MPI libraries give up a connection whose making a signal interrupts, and launchers send
/// SIGCONT and SIGTERM to end a run.
pub fn only_for_listeners() {
    hold_signals(&[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGCONT]);
}

/// A write past the limit of file sizes (`ulimit -f`) is to fail with EFBIG, which
/// is the job's error; the signal's default would end everything without a report.
/// Programs that jobs start have the default again: a handler is not inherited.
pub fn let_large_writes_fail() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without the handler it is as before.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    });
}

/// Listens until it is dropped.
pub struct SignalListener {
    handle: Handle,
    listener: Option<JoinHandle<()>>,
}

impl SignalListener {
    /// Call `hear` for each request, on a separate thread, until it returns
    /// false.
    pub fn listen(
        mut hear: impl FnMut(SignalRequest) -> bool + Send + 'static,
    ) -> io::Result<SignalListener> {
        let_large_writes_fail();
        let heard: Vec<i32> = ends().into_iter().chain([SIGUSR1]).collect();
        // As for `stop_flag`.
        let mut signals = with_signals_held(&heard, || Signals::new(&heard))?;
        let handle = signals.handle();
        let listener = std::thread::Builder::new().name("signals".into()).spawn(move || {
            // The thread that listens may hold them.
            let_signals_through(&heard);
            for signal in signals.forever() {
                let request = if signal == SIGUSR1 {
                    SignalRequest::Account
                } else {
                    SignalRequest::Stop(signal)
                };
                if !hear(request) {
                    return;
                }
            }
        })?;
        Ok(SignalListener { handle, listener: Some(listener) })
    }
}

impl Drop for SignalListener {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}
