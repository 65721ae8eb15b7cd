//! Where jobs wait at the end of their time, to learn how many I/Os the fastest had done.

use iosonde_engine::SliceControl;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A stop is looked for so often.
const LISTEN_EVERY: Duration = Duration::from_millis(20);

/// A job's place at the end of its time.
#[derive(Clone)]
pub struct WearOut {
    arrive: Arc<dyn Fn(u64) + Send + Sync>,
    goal: Arc<WearOutGoal>,
}

/// How many I/Os each job is to do, once that is known.
#[derive(Debug, Default)]
pub(crate) struct WearOutGoal {
    ios: Mutex<Option<u64>>,
    known: Condvar,
}

impl WearOut {
    /// `arrive` is called with the number of I/Os done, on the job's thread.
    pub(crate) fn new(
        arrive: impl Fn(u64) + Send + Sync + 'static,
        goal: Arc<WearOutGoal>,
    ) -> WearOut {
        WearOut { arrive: Arc::new(arrive), goal }
    }

    /// Wait for the others; how many I/Os each is to do. `None` after a stop.
    pub(crate) fn meet(&self, done: u64, control: &SliceControl) -> Option<u64> {
        (self.arrive)(done);
        let mut ios = self.goal.ios.lock().unwrap_or_else(PoisonError::into_inner);
        while ios.is_none() && !control.stop_asked() {
            let waited = self.goal.known.wait_timeout(ios, LISTEN_EVERY);
            ios = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *ios
    }
}

impl WearOutGoal {
    /// Let all go on to so many.
    pub(crate) fn set(&self, ios: u64) {
        *self.ios.lock().unwrap_or_else(PoisonError::into_inner) = Some(ios);
        self.known.notify_all();
    }
}

impl std::fmt::Debug for WearOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WearOut")
    }
}
