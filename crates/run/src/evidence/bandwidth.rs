//! Bytes over time, all jobs together.

use crate::control::Shared;
use iosonde_base::DIRS;
use iosonde_report::ledger::RateLedger;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Samples are taken this often at first ...
const EVERY: Duration = Duration::from_millis(200);
/// ... and half as often each time there are so many.
const SAMPLES_MOST: usize = 160;

pub(super) struct Rate {
    every: Duration,
    due: Instant,
    counted: u64,
    bytes: Vec<u64>,
}

impl Default for Rate {
    fn default() -> Rate {
        Rate { every: EVERY, due: Instant::now() + EVERY, counted: 0, bytes: Vec::new() }
    }
}

impl Rate {
    pub fn due(&self) -> Instant {
        self.due
    }

    /// A wave begins: time between waves is nobody's.
    pub fn begin(&mut self) {
        self.due = Instant::now() + self.every;
    }

    pub fn look(&mut self, shared: &[Arc<Shared>]) {
        let now = Instant::now();
        if now < self.due {
            return;
        }
        let all = shared
            .iter()
            .map(|shared| DIRS.map(|dir| shared.counters.lane(dir).bytes.get()).iter().sum::<u64>())
            .sum::<u64>();
        match all.checked_sub(self.counted) {
            Some(moved) => self.bytes.push(moved),
            // The end of a ramp clears what was counted, and what was counted before does not belong to the run.
            None => self.bytes.clear(),
        }
        self.counted = all;
        self.due += self.every;
        if self.due <= now {
            // Late: the machine was busy. What was missed is in this sample, and a
            // sample of more time than the others would look like a peak.
            self.bytes.pop();
            self.due = now + self.every;
        }
        if self.bytes.len() >= SAMPLES_MOST {
            self.bytes = self.bytes.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.every *= 2;
        }
    }

    pub fn finish(self) -> RateLedger {
        RateLedger { interval_ns: self.every.as_nanos() as u64, bytes: self.bytes }
    }
}
