//! Signals, turned into requests for the conductor.

use iosonde_sys::signals::{self, Listener, ListenerEnd};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

pub use iosonde_sys::signals::{let_large_writes_fail, only_for_listeners};

/// A request of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalRequest {
    /// End the run ([`signals::ends`]): the signal's number.
    Stop(i32),
    /// Report what is known so far ([`signals::ACCOUNT`]).
    Account,
}

/// A flag that a signal which ends a run sets: for programs that run several jobs one after the
/// other, and must hear of it between two.
///
/// # Errors
/// The system does not let us listen.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop: Arc<AtomicBool> = Arc::default();
    signals::flag_on(&signals::ends(), &stop)?;
    Ok(stop)
}

/// Listens until it is dropped.
pub struct SignalListener {
    end: Option<ListenerEnd>,
    thread: Option<JoinHandle<()>>,
}

impl SignalListener {
    /// Call `hear` for each request, on a separate thread, until it returns
    /// false.
    pub fn listen(
        mut hear: impl FnMut(SignalRequest) -> bool + Send + 'static,
    ) -> io::Result<SignalListener> {
        let_large_writes_fail();
        let heard: Vec<i32> = signals::ends().into_iter().chain(signals::ACCOUNT).collect();
        let (mut listener, end) = Listener::new(&heard)?;
        let thread = std::thread::Builder::new().name("signals".into()).spawn(move || {
            while let Some(signal) = listener.next_signal() {
                let request = if Some(signal) == signals::ACCOUNT {
                    SignalRequest::Account
                } else {
                    SignalRequest::Stop(signal)
                };
                if !hear(request) {
                    return;
                }
            }
        })?;
        Ok(SignalListener { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for SignalListener {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end.end();
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
