//! I/Os that were exchanged one for one and are not counted yet: counting some at once takes a
//! third of the work of counting each.

use super::completing::count_done;
use iosonde_stats::{BriefLatencies, Counters, LANES, Lane};

/// What of one lane is not counted yet.
#[derive(Debug, Default)]
struct LaneNotes {
    done: usize,
    bytes: u64,
    clat: BriefLatencies,
    lat: BriefLatencies,
    issued: usize,
    slat: BriefLatencies,
}

/// What is not counted yet.
#[derive(Debug, Default)]
pub(super) struct Exchanged {
    lanes: [LaneNotes; LANES],
    /// How many came back.
    completed: u64,
}

impl Exchanged {
    /// Note an I/O of `lane` that was done whole, with its latencies from issue, and in all. There
    /// is room for as many as a ring holds.
    #[inline(always)]
    pub(super) fn done(
        &mut self,
        counters: &Counters,
        lane: usize,
        len: u32,
        [clat, lat]: [u64; 2],
    ) {
        let (lane, notes) = (&counters.lanes[lane], &mut self.lanes[lane]);
        self.completed += 1;
        // The total is the longer.
        if notes.lat.put(notes.done, lat) {
            notes.clat.put(notes.done, clat);
            notes.done += 1;
            notes.bytes += u64::from(len);
        } else {
            count_done_long(lane, len, [clat, lat]);
        }
    }

    /// Note an I/O of `lane` that was submitted.
    #[inline(always)]
    pub(super) fn issued(&mut self, counters: &Counters, lane: usize, slat: u64) {
        let notes = &mut self.lanes[lane];
        if notes.slat.put(notes.issued, slat) {
            notes.issued += 1;
        } else {
            count_issued_long(&counters.lanes[lane], slat);
        }
    }

    /// How many came back since this was asked last.
    pub(super) fn take_completed(&mut self) -> u64 {
        std::mem::take(&mut self.completed)
    }

    /// Count what is noted.
    #[inline(never)]
    pub(super) fn count(&mut self, counters: &Counters) {
        for (notes, lane) in self.lanes.iter_mut().zip(&counters.lanes) {
            if notes.done > 0 {
                lane.ios.add(notes.done as u64);
                lane.bytes.add(notes.bytes);
                notes.clat.count(notes.done, &lane.clat, lane.clat_histogram.as_ref());
                notes.lat.count(notes.done, &lane.lat, lane.lat_histogram.as_ref());
                (notes.done, notes.bytes) = (0, 0);
            }
            if notes.issued > 0 {
                lane.issued.add(notes.issued as u64);
                notes.slat.count(notes.issued, &lane.slat, lane.slat_histogram.as_ref());
                notes.issued = 0;
            }
        }
    }
}

#[cold]
#[inline(never)]
fn count_done_long(lane: &Lane, len: u32, latencies: [u64; 2]) {
    count_done(lane, 1, len.into(), latencies);
}

#[cold]
#[inline(never)]
fn count_issued_long(lane: &Lane, slat: u64) {
    lane.issued.add(1);
    lane.slat.add_many(slat, 1);
    if let Some(histogram) = &lane.slat_histogram {
        histogram.add_many(slat, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::PerDir;
    use iosonde_stats::{CountersWriter, WhichLatencies};

    #[test]
    fn short_and_long_latencies_are_counted_as_one_by_one() {
        let which = WhichLatencies {
            slat: true,
            clat: true,
            lat: true,
            response: PerDir([false; 3]),
            dirs: PerDir([true, true, false]),
            syncs: false,
        };
        let [(writer, some), (other, one)] = [(); 2].map(|()| CountersWriter::new(&which));
        let mut exchanged = Exchanged::default();
        for round in 0..5u64 {
            for n in 0..64 {
                let lane = (n % 3 / 2) as usize;
                let long = if n == 17 { 1 << 30 } else { 0 };
                let (slat, clat) = (100 * n + long, 7000 + n * round + 2 * long);
                exchanged.issued(writer.counters(), lane, slat);
                exchanged.done(writer.counters(), lane, 4096, [clat, slat + clat]);
                count_issued_long(&other.counters().lanes[lane], slat);
                count_done_long(&other.counters().lanes[lane], 4096, [clat, slat + clat]);
            }
            exchanged.count(writer.counters());
        }
        exchanged.count(writer.counters());
        assert_eq!(format!("{:?}", some.snapshot().lanes), format!("{:?}", one.snapshot().lanes));
    }
}
