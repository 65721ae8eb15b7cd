//! Latencies in four buckets to the octave, for the windows of a run.

use crate::histogram::{BUCKETS, Histogram, bucket, lowest};

/// Buckets of a [`Histogram`] in one of these.
const FINE: usize = 16;
/// How many buckets there are.
pub const COARSE_BUCKETS: usize = BUCKETS / FINE;

/// Counts in four buckets an octave (below 64 ns in steps of 16 ns), from the
/// first that is not empty to the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoarseCounts {
    first: usize,
    counts: Vec<u64>,
}

/// The lowest value of a coarse bucket, in nanoseconds; of the one past the
/// last, the end.
pub fn coarse_lowest(bucket: usize) -> u64 {
    if bucket < COARSE_BUCKETS { lowest(bucket * FINE) } else { 1 << 45 }
}

impl CoarseCounts {
    /// From the number of the first bucket and the counts from there on.
    pub fn new(first: usize, counts: &[u64]) -> CoarseCounts {
        let all = (first..COARSE_BUCKETS).zip(counts).filter(|(_, count)| **count > 0);
        let mut coarse = CoarseCounts::default();
        all.for_each(|(bucket, &count)| coarse.add(bucket, count));
        coarse
    }

    /// The number of the first bucket that is not empty, and the counts from
    /// there to the last.
    pub fn parts(&self) -> (usize, &[u64]) {
        (self.first, &self.counts)
    }

    /// The buckets that are not empty, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let all = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        all.map(|(at, &count)| (self.first + at, count))
    }

    /// How many values there are.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Add `count` values to a bucket.
    pub fn add(&mut self, bucket: usize, count: u64) {
        if count == 0 {
            return;
        }
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let missing = self.first - bucket;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = bucket;
        }
        let at = bucket - self.first;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += count;
    }

    /// Add the values of another.
    pub fn merge(&mut self, other: &CoarseCounts) {
        other.iter().for_each(|(bucket, count)| self.add(bucket, count));
    }

    /// The values added since `earlier`.
    pub fn since(&self, earlier: &CoarseCounts) -> CoarseCounts {
        let mut window = CoarseCounts::default();
        let known = |bucket: usize| {
            let at = bucket.checked_sub(earlier.first);
            at.and_then(|at| earlier.counts.get(at)).copied().unwrap_or(0)
        };
        self.iter().for_each(|(bucket, count)| {
            window.add(bucket, count.saturating_sub(known(bucket)));
        });
        // Hundreds of windows are kept.
        window.counts.shrink_to_fit();
        window
    }

    /// The latency that `percent` of the values do not exceed: the middle, on a
    /// logarithmic scale, of the bucket in which that is reached. `None`
    /// without values.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let wanted = percent / 100.0 * self.total() as f64;
        let mut seen = 0;
        for (bucket, count) in self.iter() {
            seen += count;
            if seen as f64 >= wanted {
                let (low, high) = (coarse_lowest(bucket).max(1), coarse_lowest(bucket + 1));
                return Some((low as f64 * high as f64).sqrt() as u64);
            }
        }
        None
    }
}

impl Histogram {
    /// Add what it holds between two latencies to coarse counts: the extremes
    /// of what was counted save looking at buckets that are empty.
    pub fn add_coarse(&self, min_ns: u64, max_ns: u64, coarse: &mut CoarseCounts) {
        for at in bucket(min_ns) / FINE..=bucket(max_ns) / FINE {
            coarse.add(at, self.range_total(at * FINE..(at + 1) * FINE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_a_quarter_of_an_octave_and_percentiles_within_one() {
        assert_eq!([coarse_lowest(4), coarse_lowest(5), coarse_lowest(8)], [64, 80, 128]);
        assert_eq!(coarse_lowest(COARSE_BUCKETS), 1 << 45);
        let histogram = Histogram::default();
        (0..99).for_each(|_| histogram.add_many(100_000, 1));
        histogram.add_many(9_000_000, 1);
        let mut coarse = CoarseCounts::default();
        histogram.add_coarse(100_000, 9_000_000, &mut coarse);
        assert_eq!(coarse.total(), 100);
        let p50 = coarse.percentile(50.0).unwrap();
        assert!((90_000..115_000).contains(&p50), "{p50}");
        assert!(coarse.percentile(100.0).unwrap() > 8_000_000);
        assert_eq!(CoarseCounts::default().percentile(50.0), None);
    }

    #[test]
    fn a_window_is_the_difference_of_two_moments() {
        let mut early = CoarseCounts::default();
        early.add(40, 7);
        let mut late = early.clone();
        late.add(38, 2);
        late.add(40, 1);
        let window = late.since(&early);
        assert_eq!(window.iter().collect::<Vec<_>>(), [(38, 2), (40, 1)]);
        assert_eq!(window.parts(), (38, &[2, 0, 1][..]));
        assert_eq!(CoarseCounts::new(38, &[2, 0, 1]), window);
        assert_eq!(early.since(&late).total(), 0);
    }
}
