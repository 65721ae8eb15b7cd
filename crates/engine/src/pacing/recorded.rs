//! I/O that is due at moments that were recorded, and how late it starts.

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

/// How late what was recorded is done.
#[derive(Debug)]
pub(super) struct Recorded {
    clock: Clock,
    moments: Moments,
    histogram: Histogram,
}

impl Recorded {
    pub fn new(clock: Clock) -> Recorded {
        Recorded { clock, moments: Moments::default(), histogram: Histogram::default() }
    }

    /// The ring was filled with entries that are due at these moments, in
    /// nanoseconds since the recording began, at `origin`.
    pub fn plan(&self, origin: u64, dues_ns: &[u64], dues: &mut [u64]) {
        for (due, &ns) in dues.iter_mut().zip(dues_ns) {
            *due = self.clock.after(origin, ns);
        }
    }

    /// An entry was started, so many ticks after it was due.
    pub fn started(&self, late: u64) {
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
