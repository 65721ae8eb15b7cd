//! Moments that come at even intervals.

use std::time::{Duration, Instant};

/// Strikes at even intervals; a strike that is missed is not made up for.
pub(crate) struct Metronome {
    every: Option<Duration>,
    /// When it strikes next, if it ever does.
    pub(crate) due: Option<Instant>,
}

impl Metronome {
    pub(crate) fn new(every: Option<Duration>) -> Metronome {
        Metronome { every, due: every.map(|every| Instant::now() + every) }
    }

    /// Whether it is time.
    pub(crate) fn strikes(&mut self) -> bool {
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
