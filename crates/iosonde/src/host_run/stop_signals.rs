//! Signals, counted for as long as a host waits for the others: before its jobs start and
//! after they have ended. While they run, the conductor hears them as well.

use iosonde_hosts::group::StopRequest;
use iosonde_run::conductor::signals::{self, SignalListener, SignalRequest};
use iosonde_sys::standard_error::print_error;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// Counts the signals that end a run.
pub struct StopSignals {
    heard: Arc<Heard>,
    _listener: SignalListener,
}

#[derive(Default)]
struct Heard {
    times: AtomicU32,
    first: AtomicI32,
}

impl StopSignals {
    /// Count from now on, and print at the first signal what there is to say of it.
    ///
    /// # Errors
    /// The system does not let us listen.
    pub fn listen(first_words: Option<String>) -> Result<StopSignals, String> {
        let heard: Arc<Heard> = Arc::default();
        let counted = heard.clone();
        let listener = SignalListener::listen(move |request| {
            if let SignalRequest::Stop(signal) = request {
                // The number is there before the count says so.
                let is_first =
                    counted.first.compare_exchange(0, signal, Ordering::AcqRel, Ordering::Relaxed);
                if let (Ok(_), Some(words)) = (is_first, &first_words) {
                    print_error(&format!("{words} (stopped by signal {signal})"));
                }
                counted.times.fetch_add(1, Ordering::Release);
            }
            true
        });
        let listener = listener.map_err(|error| format!("cannot listen for signals: {error}"))?;
        signals::only_for_listeners();
        Ok(StopSignals { heard, _listener: listener })
    }

    /// Before the jobs start: any signal ends the run.
    pub fn before_start(&self) -> Option<StopRequest> {
        self.heard().map(|(_, why)| StopRequest::GiveUp(why))
    }

    /// After the jobs: the first signal ends those of all hosts, a second one the wait.
    pub fn after_end(&self) -> Option<StopRequest> {
        self.heard().map(|(times, why)| match times {
            1 => StopRequest::EndJobs(why),
            _ => StopRequest::GiveUp(format!("{why} again: the other hosts are not waited for")),
        })
    }

    fn heard(&self) -> Option<(u32, String)> {
        let times = self.heard.times.load(Ordering::Acquire);
        let signal = self.heard.first.load(Ordering::Acquire);
        (times > 0).then(|| (times, format!("stopped by signal {signal}")))
    }
}
