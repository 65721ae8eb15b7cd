//! Moments that come at even intervals.

use std::time::{Duration, Instant};

/// Ends at even intervals; an end that was missed is not made up for.
pub(crate) struct Interval {
    every: Option<Duration>,
    /// When it ends next; `None` for never.
    pub(crate) due: Option<Instant>,
}

impl Interval {
    pub(crate) fn new(every: Option<Duration>) -> Interval {
        Interval { every, due: every.map(|every| Instant::now() + every) }
    }

    /// Whether it has ended; the next one begins then.
    pub(crate) fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let (Some(every), Some(due)) = (self.every, self.due) else { return false };
        if now < due {
            return false;
        }
        let next = due + every;
        self.due = Some(if next > now { next } else { now + every });
        true
    }
}
