//! A job's tap, from the start of counting to its end.

use super::Worker;
use crate::taps;

impl Worker<'_> {
    pub(super) fn start_tap(&mut self) {
        let Some(tap) = &self.job.measure.tap else { return };
        let sync_tap = tap.clone();
        tap.begin(self.began, self.clock, &self.shared.counters);
        self.drive.tape = Some(taps::tape(tap.clone()));
        self.drive.sync_tap = Some(Box::new(move |ns| sync_tap.sync(ns)));
        self.tap_next = tap.handed_over(self.began);
    }

    pub(super) fn hand_over(&mut self, now: u64) {
        if let (Some(tap), Some(tape)) = (&self.job.measure.tap, &mut self.drive.tape) {
            tape.hand_over();
            self.tap_next = tap.handed_over(now);
        }
    }

    pub(super) fn end_tap(&mut self) {
        let now = self.clock.now();
        self.hand_over(now);
        if let Some(tap) = &self.job.measure.tap {
            tap.end(now);
        }
    }
}
