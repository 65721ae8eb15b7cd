//! Signals, turned into requests for the conductor.

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::thread::JoinHandle;

/// A request of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalRequest {
    /// End the run (SIGINT, SIGTERM): the signal's number.
    Stop(i32),
    /// Report what is known so far (SIGUSR1).
    Account,
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
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1])?;
        let handle = signals.handle();
        let listener = std::thread::Builder::new().name("signals".into()).spawn(move || {
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
