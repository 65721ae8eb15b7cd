//! I/Os of a queue, one like the other, that are counted a few at a time: sums
//! that stay in registers cost half as much.

use iosonde_base::{Op, Planned, RING};
use iosonde_stats::{Counters, Histogram, Moments, batch_class};
use iosonde_sys::clock::Clock;

/// What is not counted yet of I/Os of one kind and size.
#[derive(Debug)]
pub(super) struct Uncounted {
    op: Op,
    len: u32,
    issued: usize,
    completed: usize,
    /// Of those that were issued, in nanoseconds.
    slats: [u64; RING],
    /// Of those that completed: submission latency in nanoseconds, ticks since
    /// then, and ticks since they were due.
    latencies: [[u64; 3]; RING],
}

impl Default for Uncounted {
    fn default() -> Uncounted {
        Uncounted {
            op: Op::Read,
            len: 0,
            issued: 0,
            completed: 0,
            slats: [0; RING],
            latencies: [[0; 3]; RING],
        }
    }
}

impl Uncounted {
    /// From now on, I/Os like this one.
    pub(super) fn begin(&mut self, model: &Planned) {
        (self.op, self.len) = (model.op, model.len);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.issued + self.completed == 0
    }

    /// Note an I/O that was issued. False if it is not of this kind, or too many
    /// wait: it is to be counted at once.
    #[inline(always)]
    pub(super) fn issued(&mut self, entry: &Planned, slat: u64) -> bool {
        let (same, place) = (entry.op == self.op, self.slats.get_mut(self.issued));
        let Some(place) = place.filter(|_| same) else { return false };
        *place = slat;
        self.issued += 1;
        true
    }

    /// The same for an I/O that was done whole.
    #[inline(always)]
    pub(super) fn completed(&mut self, kind: usize, len: u32, latencies: [u64; 3]) -> bool {
        let same = kind == self.op as usize && len == self.len;
        let place = self.latencies.get_mut(self.completed);
        let Some(place) = place.filter(|_| same) else { return false };
        *place = latencies;
        self.completed += 1;
        true
    }

    /// Count them.
    pub(super) fn count(&mut self, ledger: &Counters, clock: &Clock) {
        let (slats, latencies) = (&self.slats[..self.issued], &self.latencies[..self.completed]);
        let [issued, completed] = [self.issued, self.completed].map(|count| count as u64);
        let (lane, depth, clock) = (&ledger.lanes[self.op as usize], &ledger.depth, *clock);
        lane.issued.add(issued);
        depth.submit[batch_class(1)].add(issued);
        depth.submits.add(issued);
        add_all(&lane.slat, &lane.slat_histogram, slats.iter().copied());
        lane.ios.add(completed);
        lane.bytes.add(completed * u64::from(self.len));
        depth.complete[batch_class(1)].add(completed);
        depth.completes.add(completed);
        let clats = latencies.iter().map(|&[_, took, _]| clock.ticks_to_ns(took));
        add_all(&lane.clat, &lane.clat_histogram, clats);
        let lats = latencies.iter().map(|&[slat, took, _]| slat + clock.ticks_to_ns(took));
        add_all(&lane.lat, &lane.lat_histogram, lats);
        if lane.response_histogram.is_some() {
            let responses = latencies.iter().map(|&[_, _, due]| clock.ticks_to_ns(due));
            add_all(&lane.response, &lane.response_histogram, responses);
        }
        (self.issued, self.completed) = (0, 0);
    }
}

#[inline(always)]
fn add_all(moments: &Moments, histogram: &Option<Histogram>, values: impl Iterator<Item = u64>) {
    match histogram {
        None => moments.add_all(values),
        Some(histogram) => {
            let count = histogram.counter();
            moments.add_all(values.inspect(|&ns| count(ns)));
        }
    }
}
