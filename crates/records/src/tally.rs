//! One worker's records, window by window, as its I/O is handed over.

use crate::latencies::{Latencies, PercentileBounds};
use iosonde_base::Dir;
use iosonde_engine::Record;
use iosonde_run::taps::Tap;
use iosonde_stats::Counters;
use iosonde_sys::clock::Clock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// When the run began and by which clock: set by the first worker to count.
pub type RunStart = Arc<OnceLock<(u64, Clock)>>;

/// A worker's account.
#[derive(Debug)]
pub struct WorkerTally {
    origin: RunStart,
    /// Length of a window, in nanoseconds.
    window_ns: u64,
    keep: PercentileBounds,
    /// Every so many records the next one is followed by a sync that counts
    /// in its latency; 0 for never.
    sync_every: u32,
    book: Mutex<WorkerCounts>,
}

/// The state of a worker's counters.
#[derive(Debug, Default)]
struct WorkerCounts {
    /// End of the present window, in ticks; zero before the worker counts.
    window_ends: u64,
    window_ticks: u64,
    /// Number of the present window, from 0.
    window: u64,
    present: Latencies,
    /// Windows that are over and not taken yet, with their numbers.
    over: VecDeque<(u64, Latencies)>,
    /// When the last record completed, in ticks.
    last_end: u64,
    syncs: Latencies,
    /// Latencies of syncs that belong to records not yet handed over.
    owed: VecDeque<u64>,
    /// A record; its sync is not known yet.
    waiting: Option<(Record, u64)>,
    /// Records handed over since the last that had a sync.
    since_sync: u32,
    counters: Option<Arc<Counters>>,
    /// When the worker began to count, and when it ended, in ticks.
    began: u64,
    ended: Option<u64>,
}

/// One worker's records of a window.
#[derive(Debug, Default)]
pub struct Taken {
    /// Its records.
    pub latencies: Latencies,
    /// Records issued since the worker began.
    pub issued: u64,
    /// The worker counts now.
    pub runs: bool,
}

impl WorkerTally {
    /// An account that begins with its worker.
    pub fn new(
        origin: RunStart,
        window_ns: u64,
        keep: PercentileBounds,
        sync_every: u32,
    ) -> WorkerTally {
        WorkerTally { origin, window_ns, keep, sync_every, book: Mutex::default() }
    }

    fn book(&self) -> MutexGuard<'_, WorkerCounts> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all of a window has been handed over.
    pub fn has_passed(&self, window: u64) -> bool {
        let book = self.book();
        book.ended.is_some() || book.window_ends == 0 || book.window > window
    }

    /// Take what was not taken yet up to the end of this window. What is handed
    /// over later, by a worker that blocked, counts in a later one.
    pub fn take(&self, window: u64) -> Taken {
        let mut book = self.book();
        let mut latencies = Latencies::default();
        while book.over.front().is_some_and(|(number, _)| *number <= window) {
            let over = book.over.pop_front();
            over.into_iter().for_each(|(_, over)| latencies.merge(over));
        }
        if book.window <= window {
            latencies.merge(std::mem::take(&mut book.present));
        }
        let issued = book.counters.as_ref().map_or(0, |counters| {
            [Dir::Read, Dir::Write].map(|dir| counters.lane(dir).issued.get()).iter().sum()
        });
        Taken { latencies, issued, runs: book.window_ends > 0 && book.ended.is_none() }
    }

    /// Whether anything is left to be taken.
    pub fn has_more(&self) -> bool {
        let book = self.book();
        !book.over.is_empty() || book.present.records > 0
    }

    /// When the last record completed, in ticks; zero before the first.
    pub fn last_end(&self) -> u64 {
        self.book().last_end
    }

    /// When the worker began to count and when it ended, in ticks; `None`
    /// before it began. One that runs has no end yet.
    pub fn span(&self) -> Option<(u64, u64)> {
        let book = self.book();
        (book.window_ends > 0).then(|| (book.began, book.ended.unwrap_or(u64::MAX)))
    }

    /// The syncs so far.
    pub fn syncs(&self) -> Latencies {
        self.book().syncs.clone()
    }
}

impl WorkerCounts {
    /// Let windows pass up to `now`.
    fn pass(&mut self, now: u64) {
        while now >= self.window_ends {
            let over = std::mem::take(&mut self.present);
            if over.records > 0 {
                self.over.push_back((self.window, over));
            }
            self.window += 1;
            self.window_ends = self.window_ends.saturating_add(self.window_ticks);
        }
    }

    fn count(&mut self, end: u64, ns: u64, bytes: u32, keep: PercentileBounds) {
        if end >= self.window_ends {
            self.pass(end);
        }
        self.present.add(ns, bytes, keep);
        self.last_end = end;
    }

    /// Count a record, once its sync is known if it has one.
    fn count_with_sync(&mut self, record: Record, ns: u64, keep: PercentileBounds, every: u32) {
        self.since_sync += 1;
        if self.since_sync < every {
            return self.count(record.end, ns, record.len, keep);
        }
        self.since_sync = 0;
        match self.owed.pop_front() {
            Some(sync) => self.count(record.end, ns + sync, record.len, keep),
            None => self.waiting = Some((record, ns)),
        }
    }

    fn settle_waiting(&mut self, sync: u64, keep: PercentileBounds) {
        if let Some((record, ns)) = self.waiting.take() {
            self.count(record.end, ns + sync, record.len, keep);
        }
    }
}

impl Tap for WorkerTally {
    fn begin(&self, began: u64, clock: Clock, counters: &Arc<Counters>) {
        let (origin, _) = *self.origin.get_or_init(|| (began, clock));
        let mut book = self.book();
        book.window_ticks = clock.ns_to_ticks(self.window_ns).max(1);
        book.window = began.saturating_sub(origin) / book.window_ticks;
        book.window_ends = origin + (book.window + 1) * book.window_ticks;
        book.began = began;
        book.counters = Some(counters.clone());
    }

    fn take(&self, records: &[Record]) {
        let mut book = self.book();
        let book = &mut *book;
        let mut records = records.iter();
        while let Some(record) = records.next() {
            let ns = match record.clat {
                Record::TOO_LONG => records.next().map_or(0, |long| long.end + long.offset),
                _ => u64::from(record.slat) + u64::from(record.clat),
            };
            match self.sync_every {
                0 => book.count(record.end, ns, record.len, self.keep),
                every => book.count_with_sync(*record, ns, self.keep, every),
            }
        }
    }

    fn sync(&self, ns: u64) {
        let mut book = self.book();
        book.syncs.add(ns, 0, self.keep);
        if self.sync_every == 0 {
            return;
        }
        // Syncs are handed over at once, records a chunk at a time.
        if book.waiting.is_some() {
            book.settle_waiting(ns, self.keep)
        } else {
            book.owed.push_back(ns)
        }
    }

    fn handed_over(&self, now: u64) -> u64 {
        let mut book = self.book();
        if book.window_ends <= now {
            book.pass(now);
        }
        book.window_ends
    }

    fn end(&self, now: u64) {
        let mut book = self.book();
        // Its sync failed, or the job was stopped before it: counted without.
        book.settle_waiting(0, self.keep);
        book.ended = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::LatencyUnit;
    use iosonde_base::PerDir;
    use iosonde_stats::{CountersWriter, WhichLatencies};

    const WINDOW_NS: u64 = 1000;

    fn begun(sync_every: u32) -> WorkerTally {
        let keep = PercentileBounds::of((0, u64::MAX >> 1), LatencyUnit::Nanos);
        let tally = WorkerTally::new(RunStart::default(), WINDOW_NS, keep, sync_every);
        let which = WhichLatencies {
            syncs: true,
            slat: false,
            clat: false,
            lat: false,
            response: Default::default(),
            dirs: PerDir([false, true, false]),
        };
        let (_, counters) = CountersWriter::new(&which);
        // Ticks of the monotonic clock are nanoseconds.
        Tap::begin(&tally, 5000, Clock::monotonic(), &counters);
        tally
    }

    fn record(end: u64, clat: u32) -> Record {
        Record { end, clat, len: 10, dir: 1, ..Record::default() }
    }

    #[test]
    fn records_fall_in_the_window_they_ended_in_and_none_is_lost() {
        let tally = begun(0);
        assert_eq!(tally.handed_over(5000), 6000);
        tally.take_records(&[record(5500, 1), record(5999, 2), record(6000, 3), record(8100, 4)]);
        assert!(tally.has_passed(2) && !tally.has_passed(3));
        let taken = [0, 1, 2, 3].map(|window| WorkerTally::take(&tally, window).latencies.records);
        assert_eq!(taken, [2, 1, 0, 1]);
        // The chunk with this one comes after its window was printed: it counts later.
        tally.take_records(&[record(8200, 5), record(9500, 6)]);
        assert_eq!(
            [4, 5].map(|window| WorkerTally::take(&tally, window).latencies.records),
            [2, 0]
        );
        assert!(!tally.has_more());
        assert_eq!(tally.last_end(), 9500);
    }

    #[test]
    fn a_latency_beyond_32_bits_takes_two_records_and_counts_once() {
        let tally = begun(0);
        let long = Record { slat: Record::TOO_LONG, ..record(5500, Record::TOO_LONG) };
        let rest = Record { end: 7, offset: 5 << 32, ..Record::default() };
        tally.take_records(&[long, rest, record(5600, 9)]);
        let latencies = WorkerTally::take(&tally, 0).latencies;
        assert_eq!((latencies.records, latencies.max), (2, 7 + (5 << 32)));
    }

    #[test]
    fn a_sync_counts_in_the_record_before_it_whenever_it_is_told() {
        let tally = begun(2);
        // Both syncs are known before the chunk comes.
        Tap::sync(&tally, 1000);
        Tap::sync(&tally, 2000);
        tally.take_records(&[record(5100, 1), record(5200, 2), record(5300, 3), record(5400, 4)]);
        // The chunk ends with a record, and its sync is still to come.
        tally.take_records(&[record(5500, 5), record(5600, 6)]);
        Tap::sync(&tally, 3000);
        Tap::end(&tally, 6000);
        let latencies = WorkerTally::take(&tally, 0).latencies;
        assert_eq!(latencies.records, 6);
        assert_eq!(latencies.sum, 1 + 2 + 3 + 4 + 5 + 6 + 6000);
        assert_eq!(latencies.max, 3006);
        assert_eq!(tally.syncs().records, 3);
    }

    impl WorkerTally {
        fn take_records(&self, records: &[Record]) {
            Tap::take(self, records);
        }
    }
}
