//! What a session does while jobs run, around the caller's observer.

use iosonde_run::account::disks::{DiskUse, WatchedDisks};
use iosonde_run::conductor::{Observer, RunEvent};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a session looks for a signal that the conductor did not hear.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Set by a signal that ends runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopFlag {
    /// `None` where only runs listen.
    pub flag: Option<Arc<AtomicBool>>,
}

impl StopFlag {
    pub(crate) fn is_set(&self) -> bool {
        self.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Reads the disks as the jobs end, and passes on a signal that came before the conductor
/// listened.
pub(crate) struct Watch<'a> {
    stop: &'a StopFlag,
    disks: &'a WatchedDisks,
    observer: &'a mut dyn Observer,
    /// The conductor knows of a signal.
    heard: bool,
    /// Ticks since one came that it does not know of.
    ticks: u32,
    /// Disk counters when the jobs ended. Write-back that is waited for afterwards is not
    /// theirs.
    pub used: DiskUse,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(
        stop: &'a StopFlag,
        disks: &'a WatchedDisks,
        observer: &'a mut dyn Observer,
    ) -> Watch<'a> {
        Watch { stop, disks, observer, heard: false, ticks: 0, used: DiskUse::default() }
    }

    fn pass_on_signal(&mut self) {
        if self.heard || !self.stop.is_set() {
            return;
        }
        self.ticks += 1;
        // At the first tick the conductor may be about to hear of it.
        if self.ticks == 2 {
            // We are there, so it can be sent.
            let _ = iosonde_sys::process::send_signal(iosonde_sys::signals::TERMINATE);
        }
    }
}

impl Observer for Watch<'_> {
    fn see(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Stopping { .. } => self.heard = true,
            RunEvent::Tick { .. } => {
                self.pass_on_signal();
                if self.observer.every().is_none() {
                    return;
                }
            }
            _ => {}
        }
        self.observer.see(event);
        if matches!(event, RunEvent::Ended) {
            self.used = self.disks.used();
        }
    }

    fn every(&self) -> Option<Duration> {
        self.observer.every().or(self.stop.flag.is_some().then_some(LOOK_EVERY))
    }

    fn account_every(&self) -> Option<Duration> {
        self.observer.account_every()
    }

    fn account_file(&self) -> Option<PathBuf> {
        self.observer.account_file()
    }
}
