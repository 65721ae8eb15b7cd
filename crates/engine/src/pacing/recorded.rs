//! I/O that is due at moments that were recorded, and how late it starts.

use iosonde_base::RING;
use iosonde_stats::{Histogram, HistogramSnapshot, Moments, MomentsSnapshot};
use iosonde_sys::clock::Clock;

/// How late the entries of a recording were started, syncs and opens included,
/// in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// Count, extremes, mean.
    pub moments: MomentsSnapshot,
    /// For percentiles.
    pub histogram: HistogramSnapshot,
}

/// The moments of what waits in the ring, in its order.
#[derive(Debug)]
pub(super) struct Recorded {
    clock: Clock,
    /// In ticks since the schedule began; those before `next` are past.
    dues: Vec<u64>,
    next: usize,
    moments: Moments,
    histogram: Histogram,
}

impl Recorded {
    pub fn new(clock: Clock) -> Recorded {
        Recorded {
            clock,
            dues: Vec::with_capacity(RING),
            next: 0,
            moments: Moments::default(),
            histogram: Histogram::default(),
        }
    }

    /// The ring was filled with entries that are due at these moments, in
    /// nanoseconds since the recording began.
    pub fn plan(&mut self, dues_ns: &[u64]) {
        self.dues.clear();
        self.dues.extend(dues_ns.iter().map(|&ns| self.clock.ns_to_ticks(ns)));
        self.next = 0;
    }

    /// When the next entry is due, in ticks since the schedule began.
    pub fn due(&self) -> u64 {
        self.dues.get(self.next).copied().unwrap_or(0)
    }

    /// The next entry was started, so many ticks after it was due.
    pub fn went(&mut self, late: u64) {
        self.next += 1;
        let ns = self.clock.ticks_to_ns(late);
        self.moments.add(ns);
        self.histogram.add_many(ns, 1);
    }

    pub fn clear(&self) {
        self.moments.clear();
        self.histogram.clear();
    }

    pub fn lateness(&self) -> Lateness {
        Lateness { moments: self.moments.snapshot(), histogram: self.histogram.snapshot() }
    }
}
