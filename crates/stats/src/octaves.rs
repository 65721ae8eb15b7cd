//! Latencies by powers of two microseconds: the buckets of a scraped histogram.

use crate::histogram::{BUCKETS, Histogram, bucket};
use crate::{Lane, MomentsSnapshot};

/// How many buckets there are: up to 1 us, 2 us, 4 us and so on to 2^24 us
/// (17 s), and what took longer.
pub const OCTAVES: usize = 26;

/// The end of a bucket, in nanoseconds; the last has none.
pub fn octave_end_ns(octave: usize) -> Option<u64> {
    (octave + 1 < OCTAVES).then(|| 1000 << octave)
}

impl Histogram {
    /// Add what it holds to counts by powers of two microseconds. Exact: each
    /// end is the border of a bucket here, 125 * 2^(k + 3) ns. A value that
    /// equals an end counts above it.
    pub fn add_octaves(&self, octaves: &mut [u64; OCTAVES]) {
        let mut begin = 0;
        for (octave, count) in octaves.iter_mut().enumerate() {
            let end = octave_end_ns(octave).map_or(BUCKETS, bucket);
            *count += self.range_total(begin..end);
            begin = end;
        }
    }
}

impl Lane {
    /// The latency that is shown of this lane, and its moments: start to
    /// completion where that was kept, else issue to completion. `None` where
    /// no histogram is kept.
    pub fn shown_latency(&self) -> Option<(&Histogram, MomentsSnapshot)> {
        let total = self.lat_histogram.as_ref().map(|kept| (kept, self.lat.snapshot()));
        match (total, &self.clat_histogram) {
            (Some(total), _) if total.1.n > 0 => Some(total),
            (_, Some(kept)) => Some((kept, self.clat.snapshot())),
            (total, None) => total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_borders_of_buckets_and_no_value_is_lost() {
        let histogram = Histogram::default();
        let values = [0, 999, 1000, 1999, 2000, 16_777_215_999, 16_777_216_000, u64::MAX];
        values.iter().for_each(|&ns| histogram.add_many(ns, 1));
        let mut octaves = [0; OCTAVES];
        histogram.add_octaves(&mut octaves);
        assert_eq!(octaves[..3], [2, 2, 1]);
        assert_eq!(octaves[OCTAVES - 2..], [1, 2]);
        assert_eq!(octaves.iter().sum::<u64>(), 8);
        for octave in 0..OCTAVES - 1 {
            let end = octave_end_ns(octave).unwrap();
            assert_ne!(bucket(end - 1), bucket(end), "{end} ns");
        }
    }

    #[test]
    fn without_total_latencies_those_of_completion_are_shown() {
        let lane = Lane {
            clat_histogram: Some(Histogram::default()),
            lat_histogram: Some(Histogram::default()),
            ..Lane::default()
        };
        lane.clat.add(7);
        assert_eq!(lane.shown_latency().unwrap().1.n, 1);
        lane.lat.add(8);
        lane.lat.add(9);
        assert_eq!(lane.shown_latency().unwrap().1.n, 2);
        assert!(Lane::default().shown_latency().is_none());
    }
}
