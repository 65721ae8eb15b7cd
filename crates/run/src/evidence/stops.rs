//! Whether the process was stopped and continued: SIGSTOP, SIGTSTP, then SIGCONT.

use iosonde_sys::signals::Continued;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Listens for the end of stops until it is dropped. The default of SIGCONT, to go
/// on, stays.
#[derive(Default)]
pub(super) struct StopWatch {
    continued: Arc<AtomicBool>,
    /// Sets the flag; nothing does in tests.
    _listener: Option<Continued>,
    stopped: Duration,
}

impl StopWatch {
    pub fn start() -> StopWatch {
        let continued: Arc<AtomicBool> = Arc::default();
        let listener = Some(Continued::into_flag(&continued));
        StopWatch { continued, _listener: listener, stopped: Duration::ZERO }
    }

    /// Something was due at `due`, and it is `now`: in between the process was
    /// stopped, if it was continued since the last call.
    pub fn look(&mut self, due: Instant, now: Instant) {
        if self.continued.swap(false, Ordering::Relaxed) {
            self.stopped += now.saturating_duration_since(due);
        }
    }

    /// For how long it was stopped, at least.
    pub fn stopped(&self) -> Duration {
        self.stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_a_stop_where_the_process_was_continued_since() {
        let mut watch = StopWatch::default();
        let due = Instant::now();
        watch.look(due, due + Duration::from_secs(1));
        assert_eq!(watch.stopped(), Duration::ZERO);
        watch.continued.store(true, Ordering::Relaxed);
        watch.look(due, due + Duration::from_secs(1));
        watch.look(due, due + Duration::from_secs(5));
        assert_eq!(watch.stopped(), Duration::from_secs(1));
    }
}
