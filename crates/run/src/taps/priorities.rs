//! Latencies by priority: counted from the tape, where single I/Os have
//! priorities of their own.

use iosonde_base::{DIRS, PerDir};
use iosonde_engine::{Record, Tape};
use iosonde_report::{LatencyCounts, PrioCounts};
use iosonde_stats::{Histogram, Moments};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Records of a chunk: 16 KiB, which stay in the processor's first cache.
const CHUNK: usize = 512;

/// What was counted of a job's I/Os, by priority.
#[derive(Debug)]
pub struct PriorityLatencies {
    /// The priority of those that have none of their own.
    own: u16,
    /// The total latency is counted, not that from issue on.
    by_lat: bool,
    of: Mutex<[ByPriority; 3]>,
}

type ByPriority = BTreeMap<u16, (Moments, Histogram)>;

impl PriorityLatencies {
    /// Nothing counted yet.
    pub fn new(own: u16, by_lat: bool) -> PriorityLatencies {
        PriorityLatencies { own, by_lat, of: Mutex::default() }
    }

    /// A tape that is counted from, and handed on to `tape` if there is one.
    pub fn tape(self: &Arc<Self>, tape: Option<Tape>) -> Tape {
        self.lock().iter_mut().for_each(BTreeMap::clear);
        let tape = tape.unwrap_or_else(|| {
            Tape::new(Box::new(|mut full: Vec<Record>| {
                full.clear();
                full.reserve(CHUNK);
                full
            }))
        });
        let tally = self.clone();
        tape.seen_by(move |chunk| tally.count(chunk))
    }

    fn count(&self, chunk: &[Record]) {
        let mut of = self.lock();
        let mut rest = chunk.iter();
        while let Some(&Record { slat, clat, dir, prio, .. }) = rest.next() {
            let (slat, clat) = match (clat, slat) {
                (Record::TOO_LONG, _) => match rest.next() {
                    Some(long) => (long.end, long.offset),
                    None => return,
                },
                _ => (slat.into(), clat.into()),
            };
            let prio = if prio == 0 { self.own } else { prio };
            let ns: u64 = if self.by_lat { slat + clat } else { clat };
            let Some(by_priority) = of.get_mut(usize::from(dir)) else { continue };
            let (moments, histogram) = by_priority.entry(prio).or_default();
            moments.add(ns);
            histogram.add_many(ns, 1);
        }
    }

    /// What was counted so far.
    pub fn counts(&self) -> PerDir<Vec<PrioCounts>> {
        let of = self.lock();
        PerDir(DIRS.map(|dir| {
            let count = |(&raw, (moments, histogram)): (&u16, &(Moments, Histogram))| {
                let histogram = Some(histogram.snapshot());
                counts(raw, LatencyCounts { moments: moments.snapshot(), histogram })
            };
            // The job's own comes first, as in fio.
            let (own, others): (Vec<_>, Vec<_>) =
                of[dir as usize].iter().partition(|(raw, _)| **raw == self.own);
            own.into_iter().chain(others).map(count).collect()
        }))
    }

    fn lock(&self) -> MutexGuard<'_, [ByPriority; 3]> {
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts of a priority as ioprio_set(2) has it.
pub fn counts(raw: u16, latency: LatencyCounts) -> PrioCounts {
    let (class, level, hint) = (raw >> 13, raw & 7, raw >> 3 & 1023);
    PrioCounts { class: class.into(), level: level.into(), hint: hint.into(), latency }
}
