//! After the job's time: as many I/Os more as it is behind the fastest.

use super::Worker;
use iosonde_base::text::duration;

impl Worker<'_> {
    /// The job's time is over; whether it goes on.
    pub(super) fn wear_out(&mut self) -> bool {
        let shared = self.shared;
        let Some(others) = &shared.with_others.wear_out else { return false };
        if let Err(failure) = self.engine.drain(&mut self.drive) {
            self.fail(failure);
            return false;
        }
        let done = self.drive.source.taken(&self.drive.ring);
        let Some(goal) = others.meet(done, &shared.control) else { return false };
        self.is_past_time = true;
        let more = goal.saturating_sub(done);
        self.drive.source.end_after(&mut self.drive.ring, more);
        let took = duration(self.clock.ns_between(self.began, self.clock.now()));
        self.notes.push(format!(
            "wear_out: job {} had done {done} I/Os after {took}, the fastest {goal}",
            self.job.name
        ));
        more > 0
    }
}
